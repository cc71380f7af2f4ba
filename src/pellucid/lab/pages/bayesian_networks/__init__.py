"""TODO src/pellucid/lab/pages/bayesian_networks."""
