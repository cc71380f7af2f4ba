"""TODO src/pellucid/plots/pictures/ensembles."""
