"""Classification: a label from columns.

Start with ``logistic_regression``; then ``softmax_regression``, ``sparse_logistic_regression``,
``firth_logistic_regression``, ``ordinal_logistic_regression``, ``bayesian_logistic_regression``.
Planes without probabilities: ``least_squares_classifier``, ``perceptron``, ``linear_separability``,
``stochastic_svm``. Normal classes: ``linear_discriminant_analysis``,
``quadratic_discriminant_analysis``, ``regularised_discriminant_analysis``, ``fisher_projection``.
Independent columns: ``gaussian_naive_bayes``, ``bernoulli_naive_bayes``,
``multinomial_naive_bayes``, ``complement_naive_bayes``, ``categorical_naive_bayes``.
"""
