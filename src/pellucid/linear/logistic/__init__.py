"""TODO src/pellucid/linear/logistic."""
