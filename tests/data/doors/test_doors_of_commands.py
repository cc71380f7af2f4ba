"""Commands take folders with Hive's columns and addresses, as ``pellucid.data`` does."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import pellucid
from pellucid.cli import cli


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(0)
    for year in (2023, 2024):
        folder = tmp_path / "sales" / f"year={year}"
        folder.mkdir(parents=True)
        a = rng.normal(size=60)
        pl.DataFrame({"a": a, "y": 2 * a + year}).write_parquet(folder / "p.parquet")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def test_predict_reads_a_folder_and_an_address(place):
    import fsspec

    frame = pellucid.data.load(place / "sales")
    assert frame.columns == ["a", "y", "year"]
    model = pellucid.LinearRegression().fit(frame.select("a", "year"), frame["y"])
    pellucid.save(model, place / "model.pellucid")
    done = run("predict", place / "model.pellucid", place / "sales", "--out", place / "p.csv")
    assert done.exit_code == 0, done.output
    found = pl.read_csv(place / "p.csv")["prediction"].to_numpy()
    np.testing.assert_allclose(found, frame["y"], rtol=1e-6)
    with fsspec.open("memory://shop/t.parquet", "wb") as file:
        frame.write_parquet(file)
    done = run("predict", place / "model.pellucid", "memory://shop/t.parquet", "--out",
               place / "q.csv")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert (place / "q.csv").read_text() == (place / "p.csv").read_text()


def test_learn_reads_a_folder(place):
    done = run("audit", place / "sales", "--target", "y")
    assert "year" in done.output, done.output
    gone = run("audit", "memory://nothing/here.parquet", "--target", "y")
    assert gone.exit_code != 0
    assert "there is no table at memory://nothing/here.parquet" in gone.output
