"""Densities as sums of simple ones, and what they are good for: groups, classes, odd rows."""

from pellucid._lazy import lazy_names

_HOME = {
    "BayesianGaussianMixture": "bayesian_mixture",
    "BernoulliComponent": "components",
    "CategoricalComponent": "components",
    "DensityOutlier": "density_outlier",
    "EllipticEnvelope": "elliptic_envelope",
    "ExponentialComponent": "components",
    "GaussianComponent": "components",
    "GaussianMixture": "gaussian_mixture",
    "GradientGaussianMixture": "gradient_mixture",
    "Mixture": "general_mixture",
    "MixtureDiscriminantAnalysis": "mixture_discriminant",
    "MixtureGradient": "gradients",
    "MixtureStart": "starts",
    "PoissonComponent": "components",
    "SemiSupervisedMixture": "semi_supervised",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
