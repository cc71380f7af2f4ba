"""Run the installed command in its own process, as a user does, or inside this one."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "pellucid"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def pellucid(tmp_path):
    """Call with arguments; a traceback or a second error line fails the test."""

    def run(*args: str, **environment: str) -> Done:
        done = subprocess.run(
            [SCRIPT, *args],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        if "--debug" not in args:
            assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def inside(tmp_path, monkeypatch, capfd):
    """The same without a new process: faster. What nobody foresaw fails the test."""
    from pellucid.cli import main

    def run(*args: Any) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return run


class Saved(NamedTuple):
    """A table, and models of it: numbers, two classes, and one that no study made."""

    folder: Path
    table: Path
    mass: Path
    sex: Path
    plain: Path  # naive Bayes on two columns without names
    points: Path  # their table


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Studies of the penguins, saved once."""
    import numpy as np
    import polars as pl

    import pellucid
    from pellucid.data import load_table

    folder = tmp_path_factory.mktemp("saved")
    names = ("penguins.csv", "mass.pellucid", "sex.pellucid", "plain.pellucid", "points.csv")
    found = Saved(folder, *(folder / name for name in names))
    load_table("penguins").write_csv(found.table)
    for path, target in ((found.mass, "body_mass_g"), (found.sex, "sex")):
        pellucid.learn(found.table, target, effort="quick").save(path)
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    pellucid.save(pellucid.GaussianNB().fit(X, y), found.plain)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_csv(found.points)
    return found
