"""``fit_blocks`` of a pipeline: scalers, encoders, imputers and a model on data larger than memory.

Every step is fitted by its own ``fit_blocks`` on blocks that pass through the steps before it where
they are read, so nothing in between is stored. Steps whose fit is a sum, a count or an order
statistic are the steps that ``Pipeline.fit`` in memory would give, and so is the model after them.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from pellucid.base import map_of
from pellucid.features.streaming.transformed import Columns, Transformed

Blocks: TypeAlias = Any  # of ``pellucid.data``, or transformed
Backend: TypeAlias = Any  # anything with ``map``
Step: TypeAlias = Any  # an estimator of any library, or a word


def fit_blocks(model: Step, blocks: Blocks, *, backend: Backend = None) -> Any:
    """Fit a pipeline, or any estimator that streams, on ``pellucid.data.blocks(...)``.

    Parameters
    ----------
    model : Pipeline, ColumnTransformer or estimator
        scikit-learn's Pipeline and ColumnTransformer, of steps that have ``fit_blocks``.
    blocks : Blocks
        As made by ``pellucid.data.blocks``, with the target of the last step.
    backend : backend, default=None
        Where the blocks are read, see ``pellucid.backends``.

    Returns
    -------
    model
        The same object, fitted.

    Examples
    --------
    >>> import pellucid
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = [[1.0], [float("nan")], [3.0], [4.0]], [2.0, 4.0, 6.0, 8.0]
    >>> model = make_pipeline(pellucid.SimpleImputer(), pellucid.StandardScaler(), pellucid.Ridge())
    >>> data = pellucid.data.blocks(X, target=y)
    >>> pellucid.fit_blocks(model, data).predict([[2.0]]).round(2).tolist()
    [3.93]
    """
    if isinstance(model, Pipeline):
        return _fit_pipeline(model, blocks, backend)
    if isinstance(model, ColumnTransformer):
        return _fit_columns(model, blocks, backend)
    own = getattr(model, "fit_blocks", None)
    if own is None and hasattr(model, "transform") and not get_tags(model).requires_fit:
        return model.fit(next(iter(blocks.spans()[0].leaves())).X)  # it learns names at most
    if own is None:
        raise TypeError(
            f"{type(model).__name__} has no fit_blocks: it cannot be fitted from blocks; use a "
            "step that can, or fit on a sample in memory"
        )
    return own(blocks, backend=backend)


def _fit_pipeline(model: Pipeline, blocks: Blocks, backend: Backend) -> Pipeline:
    """Step after step; the last may be a model."""
    if model.memory is not None:
        raise ValueError("a pipeline over blocks stores nothing: memory must be None")
    for name, step in model.steps[:-1]:
        if not _passes(step) and not hasattr(step, "transform"):
            raise TypeError(f"step {name!r} has no transform; only the last step may be a model")
    with map_of(backend):  # an unknown backend is refused before anything is read
        for _, step in model.steps:
            if not _passes(step):
                fit_blocks(step, blocks, backend=backend)
                last = step is model.steps[-1][1]
                blocks = blocks if last else Transformed(blocks, step)
    return model


def _passes(step: Step) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _fit_columns(model: ColumnTransformer, blocks: Blocks, backend: Backend) -> ColumnTransformer:
    """Each transformer on its own columns; what scikit-learn notes of them it notes itself."""
    first = next(iter(blocks.spans()[0].leaves())).X[:2]
    plain = [
        (name, "drop" if _is(step, "drop") else "passthrough", _several(columns))
        for name, step, columns in model.transformers
    ]
    noted = ColumnTransformer(plain, remainder=model.remainder, sparse_threshold=0.0)
    if not isinstance(model.remainder, str):
        noted.set_params(remainder="passthrough")
    noted.fit(first)
    fitted = []
    given = {name: (step, columns) for name, step, columns in model.transformers}
    for name, step, found in noted.transformers_:
        own, columns = given.get(name, (model.remainder, found))
        columns = columns if isinstance(columns, str | int) else found  # one by itself: a vector
        if isinstance(own, str):
            fitted.append((name, step, columns))
            continue
        chosen = Transformed(blocks, Columns(_positions(columns, blocks)))
        fitted.append((name, fit_blocks(own, chosen, backend=backend), columns))
    for attribute, value in vars(noted).items():
        if attribute.endswith("_") or attribute.startswith(("_", "n_features", "feature_names")):
            setattr(model, attribute, value)
    model.transformers_ = fitted
    with_names = [
        step.transform(Columns(_positions(columns, blocks)).transform(first))
        for _, step, columns in fitted
        if not _is(step, "drop")
    ]
    model._record_output_indices(with_names)
    model.sparse_output_ = False
    return model


def _several(columns: Any) -> Any:
    """A list where one column was named by itself, as texts are."""
    return [columns] if isinstance(columns, str | int) else columns


def _is(step: Step, word: str) -> bool:
    return isinstance(step, str) and step == word


def _positions(columns: str | int | slice | Sequence[object], blocks: Blocks) -> list[Any]:
    """Column names or positions of one transformer as a list."""
    if isinstance(columns, str | int):
        return [columns]
    if isinstance(columns, slice):
        names = blocks.feature_names or range(blocks.n_features)
        return list(names)[columns]
    if len(columns) and isinstance(columns[0], bool):
        return [j for j, kept in enumerate(columns) if kept]
    return list(columns)
