"""TODO src/pellucid/lab/pages/polynomials."""
