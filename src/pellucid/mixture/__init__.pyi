"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.mixture.components import BernoulliComponent as BernoulliComponent
from pellucid.mixture.components import BinomialComponent as BinomialComponent
from pellucid.mixture.components import CategoricalComponent as CategoricalComponent
from pellucid.mixture.components import ExponentialComponent as ExponentialComponent
from pellucid.mixture.components import GaussianComponent as GaussianComponent
from pellucid.mixture.components import PoissonComponent as PoissonComponent
from pellucid.mixture.gaussian.bayesian_mixture import (
    BayesianGaussianMixture as BayesianGaussianMixture,
)
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture as GaussianMixture
from pellucid.mixture.gaussian.gradient_mixture import (
    GradientGaussianMixture as GradientGaussianMixture,
)
from pellucid.mixture.gaussian.gradients import MixtureGradient as MixtureGradient
from pellucid.mixture.gaussian.starts import MixtureStart as MixtureStart
from pellucid.mixture.general_mixture import Mixture as Mixture
from pellucid.mixture.mixture_discriminant import (
    MixtureDiscriminantAnalysis as MixtureDiscriminantAnalysis,
)
from pellucid.mixture.outliers.density_outlier import DensityOutlier as DensityOutlier
from pellucid.mixture.outliers.elliptic_envelope import EllipticEnvelope as EllipticEnvelope
from pellucid.mixture.semi_supervised import SemiSupervisedMixture as SemiSupervisedMixture

__all__: list[str]
_HOME: dict[str, str]
