"""TODO src/pellucid/kernel/linear_svm."""
