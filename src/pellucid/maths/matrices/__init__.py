"""Linear algebra: systems, subspaces, decompositions, quadratic forms.

Start with ``systems.py``; ``matrix_facts.py`` reports everything about one matrix.
"""
