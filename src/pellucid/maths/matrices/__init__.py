"""Linear algebra: systems, subspaces, decompositions, quadratic forms.

Start with ``systems.py``; ``matrix_facts.py`` reports everything about one matrix,
``pagerank.py`` finds the long-run shares of a walk on a graph.
"""
