"""TODO src/pellucid/linear/bayes."""
