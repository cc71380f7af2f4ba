"""Pictures of kernels and support vector machines: one file each. Read ``svm_margin.py`` first."""
