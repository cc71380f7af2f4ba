"""Blocks whose rows are transformed, or of which columns are chosen, where they are read."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from pellucid.core.arrays.frames import is_frame
from pellucid.core.loops.statistics import Rows

Table: TypeAlias = Any  # a frame, an array or a sparse matrix
Steps: TypeAlias = Any  # fitted transformers


class Columns(NamedTuple):
    """Chooses columns by name or position, as a step that is fitted already."""

    wanted: Any

    def transform(self, X: Table) -> Any:
        """The columns of a frame or an array, as a frame or a table."""
        if is_frame(X):
            names = [X.columns[j] if isinstance(j, int) else j for j in self.wanted]
            return X.select(names) if hasattr(X, "select") else X[names]
        return X[:, list(self.wanted)]


class TransformedSpan(NamedTuple):
    """A span whose leaves pass through fitted steps."""

    span: Any
    steps: tuple[Any, ...]

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        for leaf in self.span.leaves():
            yield leaf._replace(X=through(self.steps, leaf.X))


def through(steps: Sequence[Any], X: Table) -> Any:
    """X after every step."""
    for step in steps:
        X = step.transform(X)
    return X


class Transformed:
    """Blocks after some fitted steps; they are read and transformed again in every pass."""

    def __init__(self, blocks: Table, *steps: Steps) -> None:
        if isinstance(blocks, Transformed):
            blocks, steps = blocks.blocks, (*blocks.steps, *steps)
        self.blocks: Any = blocks
        self.steps: tuple[Any, ...] = steps
        self.n_rows, self.block_rows = blocks.n_rows, blocks.block_rows
        self.target = blocks.target
        first = next(iter(blocks.spans()[0].leaves()))
        sample = through(steps, first.X[:1])
        self.n_features = sample.shape[1]
        self.feature_names = list(sample.columns) if is_frame(sample) else None
        known = getattr(blocks, "schema", {})
        names = self.feature_names or []
        self.schema = {name: known.get(name, "Float64") for name in names}

    def spans(self) -> list[TransformedSpan]:
        """The ranges of the blocks, each transformed where it is read."""
        return [TransformedSpan(span, self.steps) for span in self.blocks.spans()]

    def only_target(self) -> Any:
        """The target needs no transforming."""
        return self.blocks.only_target()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for X, y in self.blocks:
            yield through(self.steps, X), y

    def __repr__(self) -> str:
        return f"Transformed({self.blocks!r}, {len(self.steps)} step(s))"
