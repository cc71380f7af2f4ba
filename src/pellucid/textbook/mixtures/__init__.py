"""Mixtures: densities made of several simple ones, fitted by EM. Read ``gaussian_mixture`` first.

In teaching order: ``gaussian_mixture`` (EM and the bound it raises), ``gradient_mixture`` (the same
model by ascent), ``bernoulli_mixture`` (EM for any component), ``binomial_mixture`` (which coin was
tossed), ``missing_cells_mixture``,
``semi_supervised_mixture``, ``mixture_discriminant``, ``variational_mixture`` (a posterior for
every parameter), ``density_outlier`` and ``minimum_covariance_determinant`` (rows unlike the bulk).
"""
