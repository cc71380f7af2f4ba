"""`pellucid cluster`, `reduce` and `anomalies`."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import pellucid as library
from pellucid.cli.shared.options import Code
from pellucid.study.errors import OptionError
from pellucid.study.tables.anomalies import DETECTORS, describe, find_unusual
from pellucid.study.tables.grouping_methods import EUCLIDEAN
from pellucid.study.tables.grouping_methods import METHODS as GROUPINGS
from pellucid.study.tables.groups import read_counts
from pellucid.study.tables.inputs import open_inputs
from pellucid.study.tables.reduction import read_components, reduce_rows


@pytest.fixture(name="pellucid")
def in_process(inside):
    return inside


def blobs(path, n=150, k=3):
    X, y = make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]][:k], random_state=0)
    frame = pl.DataFrame(X, schema=["a", "b"]).with_columns(
        name=pl.Series([f"row {i}" for i in range(n)])
    )
    frame.write_csv(path)
    return y


def check_page(path):
    page = path.read_text()
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<svg") == page.count('role="img"')
    return page


# --- cluster -------------------------------------------------------------------------------


def test_cluster_finds_three_groups(pellucid, tmp_path):
    truth = blobs(tmp_path / "blobs.csv")
    done = pellucid("cluster", "blobs.csv", "--k", "2..6", "--restarts", "5")
    assert done.code == Code.DONE, done.err
    assert "fall into 3 groups" in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    folder = tmp_path / "pellucid-blobs-clusters"
    found = pl.read_csv(folder / "clusters.csv")
    assert adjusted_rand_score(truth, found["cluster"]) == 1
    assert found["membership"].min() > 0
    record = json.loads((folder / "report.json").read_text())
    assert (record["answer"], record["k"]) == ("groups", 3)
    assert record["left_out"] == {"name": "it names the rows"}
    assert sorted(record["sizes"]) == [50, 50, 50]
    check_page(folder / "report.html")
    model = library.load(folder / "model.pellucid")
    again = model.predict(pl.read_csv(tmp_path / "blobs.csv").select("a", "b"))
    assert (again == found["cluster"].to_numpy()).all()
    assert pellucid("cluster", "blobs.csv").code == Code.OUTPUT_EXISTS


def test_cluster_answers_none(pellucid, tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    pl.DataFrame(X, schema=["a", "b", "c"]).write_csv(tmp_path / "noise.csv")
    record = pellucid("cluster", "noise.csv", "--k", "2..5", "--restarts", "3", "--json").json
    assert record["answer"] == "none"
    assert "do not form groups" in record["verdict"][0]
    assert "PEL601" in {f["code"] for f in record["findings"]}


def test_cluster_fixed_number_and_distance(pellucid, tmp_path):
    blobs(tmp_path / "blobs.csv", 60)
    record = pellucid("cluster", "blobs.csv", "--k", "2", "--distance", "manhattan", "--no-scale",
                      "--out", "two", "--json").json  # fmt: skip
    assert (record["k"], record["distance"]) == (2, "manhattan")
    assert "as asked" in record["verdict"][0]


@pytest.mark.parametrize("method", [m for m in GROUPINGS if GROUPINGS[m].dense is None])
def test_every_method_groups_clear_blobs(pellucid, tmp_path, method):
    truth = blobs(tmp_path / "blobs.csv", n=60)
    done = pellucid("cluster", "blobs.csv", "--k", "3", "--method", method, "--restarts", "2")
    assert done.code == Code.DONE, done.err
    found = pl.read_csv(tmp_path / "pellucid-blobs-clusters" / "clusters.csv")
    assert adjusted_rand_score(truth, found["cluster"]) == 1
    if method in EUCLIDEAN:
        words = ("--method", method, "--distance", "manhattan", "--out", "other")
        assert pellucid("cluster", "blobs.csv", *words).code == Code.USAGE


@pytest.mark.parametrize("method", ["dbscan", "hdbscan"])
def test_dense_groups_and_the_rows_between(pellucid, tmp_path, method):
    """The number is found, rows far from all groups belong to none, and rings are no trouble."""
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * (np.arange(240) + rng.uniform(size=240)) / 120
    radius = np.repeat([1.0, 4.0], 120) + 0.08 * rng.normal(size=240)
    far = np.array([[7.0, 7.0], [-7.0, 6.0], [7.0, -6.5]])
    rows = np.vstack([np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), far])
    pl.DataFrame(rows, schema=["a", "b"]).write_csv(tmp_path / "rings.csv")
    done = pellucid("cluster", "rings.csv", "--method", method)
    assert done.code == Code.DONE, done.err
    assert "form 2 dense groups" in done.out
    folder = tmp_path / "pellucid-rings-clusters"
    found = pl.read_csv(folder / "clusters.csv")
    truth = np.repeat([0, 1], 120)
    assert adjusted_rand_score(truth, found["cluster"][:240]) > 0.95
    assert (found["cluster"][240:] == -1).all()
    assert (found["membership"][240:] == 0).all()
    record = json.loads((folder / "report.json").read_text())
    assert record["noise"] == int((found["cluster"] == -1).sum())
    assert sum(record["sizes"]) + record["noise"] == 243
    assert "belong to none" in check_page(folder / "report.html")
    refused = pellucid("cluster", "rings.csv", "--method", method, "--k", "3", "--out", "other")
    assert (refused.code, "leave out --k" in refused.err) == (Code.USAGE, True)


def test_dense_parts_of_one_cloud(pellucid, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    pl.DataFrame(X, schema=["a", "b"]).write_csv(tmp_path / "cloud.csv")
    record = pellucid("cluster", "cloud.csv", "--method", "dbscan", "--json").json
    assert record["answer"] == "none"
    assert "do not form groups" in record["verdict"][0]


@pytest.mark.parametrize("method", list(DETECTORS))
def test_every_detector_by_its_name(pellucid, tmp_path, method):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    rows[7] += 9.0
    pl.DataFrame(rows, schema=["a", "b", "c"]).write_csv(tmp_path / "odd.csv")
    done = pellucid("anomalies", "odd.csv", "--method", method, "--share", "0.02", "--json")
    assert done.code == Code.DONE, done.err
    assert [row["row"] for row in json.loads(done.out)["flagged"]] == [7]


def test_cluster_refuses(pellucid, tmp_path):
    blobs(tmp_path / "blobs.csv", 30)
    missing = pellucid("cluster", "blobs.csv", "--method", "optics")
    assert (missing.code, "there are: kmeans" in missing.err) == (Code.USAGE, True)
    assert pellucid("cluster", "blobs.csv", "--k", "40").code == Code.USAGE
    assert pellucid("cluster", "blobs.csv", "--k", "x").code == Code.USAGE
    assert pellucid("cluster", "blobs.csv", "--drop", "q").code == Code.DATA
    assert pellucid("cluster", "no.csv").code == Code.DATA
    pl.DataFrame({"a": [1, 2]}).write_csv(tmp_path / "small.csv")
    assert pellucid("cluster", "small.csv").code == Code.TASK
    assert not (tmp_path / "pellucid-small-clusters").exists()


def test_counts_to_try():
    with pytest.raises(OptionError, match="between 2"):
        read_counts("1..3", 10)


# --- reduce --------------------------------------------------------------------------------


def test_reduce(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    f = rng.normal(size=(200, 2))
    X = f @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    pl.DataFrame(X, schema=list("abcdef")).write_csv(tmp_path / "plane.csv")
    done = pellucid("reduce", "plane.csv")
    assert done.code == Code.DONE, done.err
    assert done.out.startswith("2 directions hold")
    assert max(map(len, done.out.splitlines())) <= 100
    folder = tmp_path / "pellucid-plane-components"
    scores = pl.read_csv(folder / "scores.csv")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = library.PCA(2).fit(Z)
    np.testing.assert_allclose(
        scores.select("component_1", "component_2").to_numpy(), model.transform(Z), atol=1e-8
    )
    np.testing.assert_allclose(scores["squared_error"].sum(), model.reconstruction_error_)
    loadings = pl.read_csv(folder / "loadings.csv")
    np.testing.assert_allclose(loadings["component_1"], model.loadings_[:, 0], atol=1e-8)
    record = json.loads((folder / "report.json").read_text())
    assert record["suggested"] == 2
    assert record["error_share"] < 0.02
    check_page(folder / "report.html")
    saved = library.load(folder / "model.pellucid")
    np.testing.assert_allclose(
        saved.transform(pl.read_csv(tmp_path / "plane.csv")), model.transform(Z), atol=1e-8
    )


def test_reduce_says_that_nothing_hangs_together(pellucid, tmp_path):
    X = np.random.default_rng(1).normal(size=(300, 4))
    pl.DataFrame(X, schema=list("abcd")).write_csv(tmp_path / "noise.csv")
    record = pellucid("reduce", "noise.csv", "--json").json
    assert record["suggested"] == 0
    assert "do not hang together" in record["verdict"][0]


def test_reduce_components_and_refusals(pellucid, tmp_path):
    blobs(tmp_path / "blobs.csv", 60)
    share = pellucid("reduce", "blobs.csv", "--components", "0.5", "--json").json
    assert share["components"] == 1
    assert pellucid("reduce", "blobs.csv", "--components", "9", "--out", "x").code == Code.USAGE
    unknown = pellucid("reduce", "blobs.csv", "--method", "tsne", "--out", "x")
    assert (unknown.code, "there are: pca" in unknown.err) == (Code.USAGE, True)
    with pytest.raises(OptionError, match="components"):
        read_components("1.5", 4)


def test_reduce_one_column():
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=50)})
    found = reduce_rows(open_inputs(frame), None, "pca", 0)
    assert found.model.n_components_ == 1


# --- anomalies -----------------------------------------------------------------------------


@pytest.fixture
def odd():
    rng = np.random.default_rng(0)
    length = rng.normal(200, 10, 300)
    mass = 20 * length + rng.normal(0, 50, 300)
    length[17], mass[17] = 215.0, 3700.0  # each is usual by itself, together they are not
    colour = np.array(["red", "blue"])[rng.integers(2, size=300)]
    return pl.DataFrame({"length": length, "mass": mass, "colour": colour})


def test_anomalies_names_the_row_and_the_cells(pellucid, odd, tmp_path):
    odd.write_csv(tmp_path / "odd.csv")
    done = pellucid("anomalies", "odd.csv")
    assert done.code == Code.DONE, done.err
    assert done.out.startswith("Row 17 is the oddest of 300")
    assert max(map(len, done.out.splitlines())) <= 100
    folder = tmp_path / "pellucid-odd-anomalies"
    record = json.loads((folder / "report.json").read_text())
    first = record["flagged"][0]
    assert first["row"] == 17
    reasons = {r["feature"]: r for r in first["reasons"]}
    assert set(reasons) == {"length", "mass"}
    assert reasons["mass"]["expected"] == pytest.approx(20 * 215, rel=0.02)
    table = pl.read_csv(folder / "anomalies.csv")
    assert table["flagged"].sum() == 3
    assert table["score"].median() == pytest.approx(1)
    check_page(folder / "report.html")


def test_a_fifth_of_odd_rows_does_not_hide_itself():
    """The plain covariance is pulled over; the concentrated one is not."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(200, 3))
    Z[:40] += [12, 12, -12]
    bulk = describe(Z, np.zeros(3, bool))
    assert np.abs(bulk.mean).max() < 0.4
    frame = pl.DataFrame(Z, schema=["a", "b", "c"])
    found = find_unusual(open_inputs(frame), "normal", 0.2, 0)
    assert set(found.flagged) == set(range(40))


@pytest.mark.parametrize("method", list(DETECTORS))
def test_every_detector_finds_a_row_far_from_all(method):
    Z = np.random.default_rng(3).normal(size=(150, 2))
    Z[80] = [9, -9]
    frame = pl.DataFrame(Z, schema=["a", "b"])
    found = find_unusual(open_inputs(frame), method, 0.01, 0)
    assert found.flagged[0] == 80
    assert found.scores[80] > 1.3
    assert found.reasons[0][0].feature in ("a", "b")


def test_anomalies_refuses(pellucid, odd, tmp_path):
    odd.write_csv(tmp_path / "odd.csv")
    unknown = pellucid("anomalies", "odd.csv", "--method", "magic")
    assert (unknown.code, "normal" in unknown.err) == (Code.USAGE, True)
    assert pellucid("anomalies", "odd.csv", "--share", "2").code == Code.USAGE


# --- report --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["cluster", "reduce", "anomalies"])
def test_the_page_again_from_its_json(pellucid, tmp_path, command):
    """`pellucid report` makes the same page from report.json alone."""
    blobs(tmp_path / "blobs.csv", n=60)
    options = ("--k", "2..4", "--restarts", "2") if command == "cluster" else ()
    assert pellucid(command, "blobs.csv", *options, "--out", "there", "--quiet").code == Code.DONE
    page = (tmp_path / "there" / "report.html").read_text()
    done = pellucid("report", "there/report.json", "--out", "again.html")
    assert done.code == Code.DONE, done.err
    assert (tmp_path / "again.html").read_text() == page
    record = json.loads((tmp_path / "there" / "report.json").read_text())
    part = {"cluster": "map", "reduce": "loadings", "anomalies": "some_rows"}[command]
    (tmp_path / "torn.json").write_text(json.dumps(record | {part: {"x": ["<script>"]}}))
    torn = pellucid("report", "torn.json")
    assert (torn.code, "not a whole report" in torn.err) == (Code.DATA, True)
    (tmp_path / "other.json").write_text('{"schema": ["x"]}')
    assert "not a record of" in pellucid("report", "other.json").err
