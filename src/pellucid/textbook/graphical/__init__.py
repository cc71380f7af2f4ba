"""Graphical models: many variables, few arrows. Read ``d_separation`` first.

Variables are numbered; ``parents[v]`` lists the parents of v, and ``tables[v]`` has one axis for
each of them in that order and a last one for v itself. In teaching order:

- graphs: ``d_separation``, ``minimal_i_map``, ``equivalence_class``
- exact answers: ``joint_enumeration``, ``variable_elimination``, ``clique_tree``,
  ``most_probable_explanation``, ``gaussian_network``, ``conditional_gaussian_network``
- by drawing: ``likelihood_weighting``, ``gibbs_sampling``
- causes: ``adjustment_formula``
- tables from data: ``table_learning``, ``network_em``
"""
