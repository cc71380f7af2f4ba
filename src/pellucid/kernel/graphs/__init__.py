"""Kernels on graphs.

Read ``weisfeiler_lehman.py`` first: the isomorphism test and the kernel built on it.
``graphs.py`` holds the graph record, colour refinement and the exact search for an isomorphism.
"""
