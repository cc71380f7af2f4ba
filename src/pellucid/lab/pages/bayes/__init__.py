"""TODO src/pellucid/lab/pages/bayes."""
