"""TODO src/pellucid/linear/stochastic."""
