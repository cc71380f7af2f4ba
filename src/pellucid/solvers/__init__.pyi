"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.solvers.compare import compare_solvers as compare_solvers
from pellucid.solvers.compare import solver_advice as solver_advice
from pellucid.solvers.coordinate import CoordinateDescent as CoordinateDescent
from pellucid.solvers.gradient_descent import GradientDescent as GradientDescent
from pellucid.solvers.irls import irls_step as irls_step
from pellucid.solvers.kkt import budget_multiplier as budget_multiplier
from pellucid.solvers.kkt import kkt_report as kkt_report
from pellucid.solvers.lbfgs import LBFGS as LBFGS
from pellucid.solvers.line_search import Backtracking as Backtracking
from pellucid.solvers.line_search import ExactLineSearch as ExactLineSearch
from pellucid.solvers.line_search import Wolfe as Wolfe
from pellucid.solvers.minimum import Minimum as Minimum
from pellucid.solvers.minimum import SeparationWarning as SeparationWarning
from pellucid.solvers.newton import Newton as Newton
from pellucid.solvers.newton import newton_root as newton_root
from pellucid.solvers.objective import LinearObjective as LinearObjective
from pellucid.solvers.objective import Objective as Objective
from pellucid.solvers.proximal import ProximalGradient as ProximalGradient
from pellucid.solvers.rates import learning_rate_range as learning_rate_range
from pellucid.solvers.rules import AdaGrad as AdaGrad
from pellucid.solvers.rules import Adam as Adam
from pellucid.solvers.rules import AdamW as AdamW
from pellucid.solvers.rules import Clipped as Clipped
from pellucid.solvers.rules import Momentum as Momentum
from pellucid.solvers.rules import RMSProp as RMSProp
from pellucid.solvers.schedules import Adaptive as Adaptive
from pellucid.solvers.schedules import Constant as Constant
from pellucid.solvers.schedules import Cosine as Cosine
from pellucid.solvers.schedules import ExponentialDecay as ExponentialDecay
from pellucid.solvers.schedules import InverseScaling as InverseScaling
from pellucid.solvers.schedules import LinearDecay as LinearDecay
from pellucid.solvers.schedules import Optimal as Optimal
from pellucid.solvers.schedules import StepDecay as StepDecay
from pellucid.solvers.schedules import WarmUp as WarmUp
from pellucid.solvers.shared import L1 as L1
from pellucid.solvers.shared import L1L2 as L1L2
from pellucid.solvers.shared import L2 as L2
from pellucid.solvers.shared import CriticalPoint as CriticalPoint
from pellucid.solvers.shared import DivergenceWarning as DivergenceWarning
from pellucid.solvers.shared import History as History
from pellucid.solvers.shared import Iteration as Iteration
from pellucid.solvers.shared import Lq as Lq
from pellucid.solvers.shared import iterate as iterate
from pellucid.solvers.subgradient import SubgradientDescent as SubgradientDescent
from pellucid.solvers.subgradient import subgradient_report as subgradient_report

__all__: list[str]
_HOME: dict[str, str]
