"""TODO src/pellucid/evaluation/conformal."""
