"""TODO src/pellucid/lab/pages/ensembles."""
