"""Densities as sums of simple ones, and what they are good for: groups, classes, odd rows.

``gaussian/`` Gaussian mixtures; ``outliers/`` odd rows; ``general_mixture.py`` any densities;
``mixture_discriminant.py`` and ``semi_supervised.py`` classify.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "BayesianGaussianMixture": "gaussian.bayesian_mixture",
    "BernoulliComponent": "components",
    "BinomialComponent": "components",
    "CategoricalComponent": "components",
    "DensityOutlier": "outliers.density_outlier",
    "EllipticEnvelope": "outliers.elliptic_envelope",
    "ExponentialComponent": "components",
    "GaussianComponent": "components",
    "GaussianMixture": "gaussian.gaussian_mixture",
    "GradientGaussianMixture": "gaussian.gradient_mixture",
    "Mixture": "general_mixture",
    "MixtureDiscriminantAnalysis": "mixture_discriminant",
    "MixtureGradient": "gaussian.gradients",
    "MixtureStart": "gaussian.starts",
    "PoissonComponent": "components",
    "SemiSupervisedMixture": "semi_supervised",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
