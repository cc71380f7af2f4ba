"""Theory: what can be promised before the data are seen. Read ``hoeffding`` first.

In teaching order: ``bayes_rule``, ``markov_chebyshev``, ``hoeffding``, ``bernstein``,
``finite_class_bound``, ``growth_function`` and ``vc_bound``, ``rademacher_complexity``,
``norm_class_bound``, ``margin_bound``, ``perceptron_bound``, ``bias_variance``,
``zero_one_bias_variance``, ``gauss_markov``, ``inclusion_exclusion`` and ``limit_theorems``.
"""
