"""One statistic serves the family: a file is read once, whatever the method does with it."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import pellucid
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks

N, P = 5 * LEAF_ROWS + 300, 6
MODELS = [
    pellucid.LinearRegression(),
    pellucid.Ridge(2.0),
    pellucid.Lasso(0.1),
    pellucid.ElasticNet(0.1),
    pellucid.Lars(),
    pellucid.LassoLars(0.05),
    pellucid.LassoLarsIC(),
    pellucid.StagewiseRegression(),
    pellucid.GroupLasso(0.1),
    pellucid.BridgeRegression(0.1),
    pellucid.DantzigSelector(0.1),
    pellucid.BestSubsetRegression(),
    pellucid.StepwiseRegression(),
    pellucid.PrincipalComponentRegression(3),
    pellucid.PLSRegression(3),
    pellucid.BayesianLinearRegression(),
    pellucid.BayesianRidge(),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)) @ (np.eye(P) + 0.2 * rng.normal(size=(P, P)))
    y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 3.0] + rng.normal(size=N) + 4
    file = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame = pl.DataFrame(X, schema=list("abcdef")).with_columns(y=pl.Series(y))
    frame.write_parquet(file, row_group_size=7_000)
    return file


class CountingSpan:
    def __init__(self, span, rows):
        self.span, self.rows, self.start = span, rows, span.start

    def leaves(self):
        for leaf in self.span.leaves():
            self.rows.append(leaf.n_rows)
            yield leaf


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_file_is_read_once(model, path, monkeypatch):
    source = blocks(path, target="y", block_rows=9_000)
    rows, cut = [], source.spans
    monkeypatch.setattr(source, "spans", lambda: [CountingSpan(s, rows) for s in cut()])
    model.fit_blocks(source)
    assert sum(rows) <= N + LEAF_ROWS, "read again (a first leaf may be looked at for its shape)"
    frame = pl.read_parquet(path)
    whole = clone(model).fit(frame.drop("y"), frame["y"])
    np.testing.assert_allclose(
        model.predict(frame.drop("y")[:100]), whole.predict(frame.drop("y")[:100]), rtol=1e-7
    )
