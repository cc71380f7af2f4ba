"""TODO src/pellucid/kernel/svm."""
