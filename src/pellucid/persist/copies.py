"""Copies of fitted models that predict, and hold nothing else of their training."""

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.persist.allowed import is_cached, is_namedtuple
from pellucid.persist.format import TRANSIENT
from pellucid.persist.leaves import full_name


def predict_only(model: BaseEstimator) -> Any:
    """A copy of a fitted model without history and without the rows it was trained on.

    It predicts and transforms as the model does, to the bit. What it leaves out is what
    ``save(..., slim=True)`` leaves out: ``history_`` and what a class names in
    ``_training_state``, in every estimator that the model is made of. Models that answer from the
    training rows themselves (neighbours, kernels) keep those.

    Parameters
    ----------
    model : fitted estimator
        Also a ``Pipeline`` or a search with fitted parts.

    Returns
    -------
    estimator
        Shares no array with the model.

    Examples
    --------
    >>> import pellucid
    >>> model = pellucid.KMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> small = pellucid.predict_only(model)
    >>> small.predict([[7.0]]) == model.predict([[7.0]]), hasattr(small, "labels_")
    (array([ True]), False)
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"predict_only needs a fitted estimator, got a {full_name(type(model))}")
    check_is_fitted(model.steps[-1][1] if isinstance(model, Pipeline) else model)
    return lean(model, {})


def lean(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy in which estimators lose what they do not predict with."""
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, BaseEstimator):
        return _estimator(value, memo)
    if isinstance(value, dict):
        twin: Any = copy.copy(value)
        twin.update({key: lean(item, memo) for key, item in value.items()})
    elif type(value) in (list, tuple):
        twin = type(value)(lean(item, memo) for item in value)
    elif is_namedtuple(type(value)):
        twin = type(value)(*(lean(item, memo) for item in value))
    elif isinstance(value, np.ndarray) and value.dtype.hasobject:
        twin = np.empty(value.shape, value.dtype)
        twin.ravel()[:] = [lean(item, memo) for item in value.ravel()]
    else:
        return copy.deepcopy(value, memo)
    memo[id(value)] = twin
    return twin


def _estimator(model: BaseEstimator, memo: dict[int, Any]) -> Any:
    cls: Any = type(model)
    dropped = {"history_", *getattr(cls, "_training_state", ()), *TRANSIENT}
    twin = cls.__new__(cls)
    memo[id(model)] = twin
    for key, value in vars(model).items():
        if key not in dropped and not is_cached(cls, key):
            setattr(twin, key, lean(value, memo))
    return twin
