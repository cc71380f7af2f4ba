"""Commands about the installation itself: read ``doctor`` first; ``warm`` compiles the kernels."""
