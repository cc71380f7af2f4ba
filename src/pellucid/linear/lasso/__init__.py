"""TODO src/pellucid/linear/lasso."""
