"""TODO src/pellucid/lab/pages/neighbours."""
