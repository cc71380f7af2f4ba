"""The rule that a recorded step names is the rule of its own algorithm, and its Python runs."""

import numpy as np
import pytest

from pellucid import SVC, LogisticRegression, NuSVC
from pellucid.lab.drawing import literal
from pellucid.lab.formula_lines import Moment
from pellucid.lab.formulas import formula_of
from pellucid.lab.recorded_code import code_for, spelled
from pellucid.reinforcement import (
    DoubleQLearning,
    FiniteHorizon,
    LinearProgramming,
    PolicyIteration,
    QLearning,
    ValueIteration,
)

DECISIONS = [
    ValueIteration(), PolicyIteration(), LinearProgramming(), FiniteHorizon(3), QLearning(),
    DoubleQLearning(),
]  # fmt: skip


def said(model):
    return formula_of(Moment(model, None, {}, {}, ""))


@pytest.mark.parametrize("model", [SVC(), NuSVC()])
def test_the_dual_of_a_machine_with_an_intercept_is_balanced(model):
    assert "Σ α_i y_i = 0" in said(model)


def test_every_planner_and_agent_has_a_rule_of_its_own():
    rules = [said(model) for model in DECISIONS]
    assert len(set(rules)) == len(rules)
    assert "argmax_a" in said(PolicyIteration())
    assert "≥ r(s,a)" in said(LinearProgramming())
    assert "Q_B(s′, argmax Q_A(s′,·))" in said(DoubleQLearning())


def test_a_record_with_missing_cells_is_python():
    X = np.array([[0.5, np.nan], [-np.inf, 1e-300]])
    assert np.array_equal(eval(literal(X), {"np": np}), X, equal_nan=True)
    assert literal(["nan", "inf"]) == "np.array(['nan', 'inf'])"
    y = np.array([0, 1, 0, 1])
    model = LogisticRegression(C=np.inf)
    assert spelled(model) == "LogisticRegression(C=np.inf)"
    scope: dict = {}
    exec(code_for(model.fit([[0.0], [1.0], [2.0], [3.0]], y), np.arange(4.0)[:, None], y), scope)
    assert np.isinf(scope["model"].C)
