"""Write a fitted model as an ONNX file, for programs that do not have Python."""

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import pellucid
from pellucid.core.runtime.atomic import replacing
from pellucid.persist.allowed import class_name
from pellucid.persist.leaves import full_name
from pellucid.persist.onnx import linear as onnx_linear
from pellucid.persist.onnx import networks as onnx_networks
from pellucid.persist.onnx import trees as onnx_trees
from pellucid.persist.onnx.graph import Answer, Graph, Output, refuse
from pellucid.persist.onnx.transformers import TRANSFORMERS
from pellucid.persist.writer import check_path, input_schema

PREDICTORS = {
    f"pellucid.{name}": convert
    for family in (onnx_linear, onnx_trees, onnx_networks)
    for name, convert in family.PREDICTORS.items()
}


def to_onnx(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model as an ONNX file that answers as the model does.

    The input ``X`` is a double tensor (rows, n_features_in_). A regressor answers ``prediction``;
    a classifier ``label`` and ``probabilities``, or ``decision`` where it has no probabilities; a
    transformer ``transformed``. Labels are equal and numbers agree to 1e-12 of their size (the
    sums of trees to the bit). What has no exact form is refused. The same model gives the same
    bytes. An ONNX file cannot refuse a row: where a model does not take NaN, the numbers of a row
    with NaN are NaN and its label is some class.

    Parameters
    ----------
    model : fitted estimator
        Linear models, decision trees, forests, gradient boosting, MLPs; scalers, imputers,
        polynomials, principal components, selectors; a ``Pipeline`` or ``ColumnTransformer``.
    path : str or path
        The usual ending is ``.onnx``.

    Raises
    ------
    ValueError
        The model cannot be converted exactly; the sentence says what stands in the way.
    ImportError
        The package onnx is missing (extra ``onnx``).

    Examples
    --------
    >>> import os, tempfile
    >>> import pellucid
    >>> from pellucid.persist import to_onnx
    >>> model = pellucid.Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.onnx")
    ...     to_onnx(model, path)
    ...     os.path.getsize(path) > 0
    True
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"to_onnx needs a fitted estimator, got a {full_name(type(model))}")
    target = check_path(path)
    raw = onnx_bytes(model)
    with replacing(target) as file:
        file.write(raw)


def onnx_bytes(model: BaseEstimator) -> bytes:
    """The ONNX model in memory."""
    steps = active_steps(model) if isinstance(model, Pipeline) else [model]
    check_is_fitted(steps[-1])
    graph = Graph()
    answer = converted(graph, model, "X")
    schema = input_schema(steps[0])
    facts = {
        "version": pellucid.__version__,
        "class": public_name(model),
        "feature_names": schema["feature_names_in_"],
        "classes": answer.classes,
    }
    known = {key: value for key, value in facts.items() if value is not None}
    return graph.model(type(model).__name__, schema["n_features_in_"], answer, known)


def public_name(model: BaseEstimator) -> str:
    return class_name(type(model)) or full_name(type(model))


def is_idle(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def active_steps(model: Pipeline) -> list[Any]:
    """The steps of a pipeline that do something."""
    steps = [step for _, step in model.steps if not is_idle(step)]
    return steps or refuse(model, "none of its steps does anything")


def converted(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """What a model answers to the tensor x; a pipeline's last step answers."""
    if type(model) is Pipeline:
        *before, last = active_steps(model)
        for step in before:
            x = transformed(g, step, x)
        return converted(g, last, x)
    name = public_name(model)
    if name in PREDICTORS:
        return PREDICTORS[name](g, model, x)
    z = transformed(g, model, x)
    return Answer([Output("transformed", z, np.dtype(np.float64), (n_columns(model),))])


def transformed(g: Graph, model: BaseEstimator, x: str) -> str:
    """The rows that a step hands on."""
    if is_idle(model):
        return x
    if type(model) is Pipeline:
        for _, step in model.steps:
            x = transformed(g, step, x)
        return x
    name = public_name(model)
    if name == "sklearn.compose.ColumnTransformer":
        return side_by_side(g, model, x)
    if name not in TRANSFORMERS:
        refuse(
            model,
            "only linear models, trees, forests, boosting, MLPs, scalers, imputers, polynomials, "
            "principal components, selectors and pipelines of these have an exact form",
        )
    return TRANSFORMERS[name](g, model, x)


def side_by_side(g: Graph, model: BaseEstimator, x: str) -> str:
    """What each step of a ColumnTransformer makes of its own columns."""
    parts = []
    weights = model.transformer_weights or {}
    for name, step, _ in model.transformers_:
        places = model._transformer_to_input_indices[name]
        if len(places) and not (isinstance(step, str) and step == "drop"):
            part = transformed(g, step, g.take(x, places))
            parts.append(g.op("Mul", part, float(weights[name])) if name in weights else part)
    if not parts:
        refuse(model, "it keeps no column")
    return g.join(*parts)


def n_columns(model: BaseEstimator) -> int | None:
    """How many columns a transformer makes; without names for them, as many as it takes."""
    if not hasattr(model, "get_feature_names_out"):
        return int(model.n_features_in_)
    try:
        return len(model.get_feature_names_out())
    except (AttributeError, ValueError):  # a part cannot name its columns, or two have one name
        return None
