"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.discriminant.density import GaussianDensity as GaussianDensity
from pellucid.discriminant.generative import GenerativeClassifier as GenerativeClassifier
from pellucid.discriminant.hyperplane import Hyperplane as Hyperplane
from pellucid.discriminant.ladder import DiscriminantLadder as DiscriminantLadder
from pellucid.discriminant.ladder import discriminant_ladder as discriminant_ladder
from pellucid.discriminant.lda import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from pellucid.discriminant.qda import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from pellucid.discriminant.rda import (
    RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis,
)
from pellucid.discriminant.rda_cv import (
    RegularizedDiscriminantAnalysisCV as RegularizedDiscriminantAnalysisCV,
)
from pellucid.discriminant.reduced import Scatter as Scatter

__all__: list[str]
_HOME: dict[str, str]
