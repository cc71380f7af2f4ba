"""Optimisers shared by all families.

Start with ``gradient_descent.py``; ``objective.py`` is what is minimised, ``minimum.py`` what comes
back. ``rules.py``, ``schedules.py`` and ``line_search.py`` say how far a step goes.
"""

from pellucid._lazy import lazy_names

_HOME: dict[str, str] = {
    "AdaGrad": "rules",
    "Adam": "rules",
    "AdamW": "rules",
    "Adaptive": "schedules",
    "Backtracking": "line_search",
    "Clipped": "rules",
    "Constant": "schedules",
    "CoordinateDescent": "coordinate",
    "Cosine": "schedules",
    "CriticalPoint": "shared",
    "DivergenceWarning": "shared",
    "ExactLineSearch": "line_search",
    "ExponentialDecay": "schedules",
    "GradientDescent": "gradient_descent",
    "History": "shared",
    "InverseScaling": "schedules",
    "Iteration": "shared",
    "L1": "shared",
    "L1L2": "shared",
    "L2": "shared",
    "LBFGS": "lbfgs",
    "LinearDecay": "schedules",
    "LinearObjective": "objective",
    "Lq": "shared",
    "Minimum": "minimum",
    "Momentum": "rules",
    "Newton": "newton",
    "Objective": "objective",
    "Optimal": "schedules",
    "ProximalGradient": "proximal",
    "RMSProp": "rules",
    "SeparationWarning": "minimum",
    "StepDecay": "schedules",
    "SubgradientDescent": "subgradient",
    "WarmUp": "schedules",
    "Wolfe": "line_search",
    "budget_multiplier": "kkt",
    "compare_solvers": "compare",
    "irls_step": "irls",
    "iterate": "shared",
    "kkt_report": "kkt",
    "learning_rate_range": "rates",
    "newton_root": "newton",
    "solver_advice": "compare",
    "subgradient_report": "subgradient",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
