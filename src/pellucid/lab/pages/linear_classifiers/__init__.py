"""TODO src/pellucid/lab/pages/linear_classifiers."""
