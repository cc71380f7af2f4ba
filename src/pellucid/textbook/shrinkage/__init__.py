"""Shrinkage: linear models that pay for their coefficients, or choose among them.

Start with ``ridge``, whose penalty ``ridge_leave_one_out`` chooses. Zeros: ``lasso``,
``elastic_net``, ``group_lasso``, ``multi_task_lasso``, ``bridge_regression``, ``dantzig_selector``.
Whole paths: ``lars``, ``lasso_information``, ``stagewise``. Subsets: ``best_subset``, ``stepwise``,
``stability_selection``. Components: ``principal_component_regression``, ``partial_least_squares``.
Priors: ``bayesian_linear_regression``, ``bayesian_ridge``, ``automatic_relevance``.
"""
