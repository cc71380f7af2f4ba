"""A model file of every estimator of every released version loads and answers as it did."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from estimators import public_classes
from make_every_file import DATA, answer, archive

import pellucid

ARCHIVES = sorted(DATA.glob("every_*.zip"))
CASES = [
    (path, name.removesuffix(".pellucid"))
    for path in ARCHIVES
    for name in zipfile.ZipFile(path).namelist()
    if name.endswith(".pellucid")
]
# now: while a test runs, the toys are public names too
NEEDED = {
    name for name, cls in public_classes().items() if not cls.__module__.startswith("pellucid.deep")
}


def same(found, expected):
    """Numbers to 1e-9 of their size; everything else equal."""
    if isinstance(expected, list) and expected and isinstance(expected[0], list):
        shapes = {np.shape(one) for one in expected}
        if len(shapes) > 1:
            return len(found) == len(expected) and all(map(same, found, expected))
    a, b = np.asarray(found), np.asarray(expected)
    if b.dtype.kind == "f":
        scale = np.nanmax(np.abs(b), initial=1e-300)
        return a.shape == b.shape and np.allclose(
            a, b, rtol=1e-9, atol=1e-9 * scale, equal_nan=True
        )
    return a.tolist() == b.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("path", "name"), CASES, ids=[f"{p.stem}-{n}" for p, n in CASES])
def test_a_stored_file_still_answers(path, name, tmp_path):
    with zipfile.ZipFile(path) as stored:
        asked = json.loads(stored.read(f"{name}.json"))
        file = Path(stored.extract(f"{name}.pellucid", tmp_path))
    model = pellucid.load(file)
    if asked["answer"] is not None:
        X = asked["X"]
        rows = X if isinstance(X[0], str) else np.array(X)
        way, expected = asked["answer"]
        found = answer(model, rows)
        assert found[0] == way
        assert same(found[1], expected)


def test_every_estimator_has_a_file_of_this_version():
    """``python tests/persist/make_every_file.py`` adds those that are missing."""
    stored = {name for path, name in CASES if path == archive()}
    assert not NEEDED - stored


def test_the_archives_are_small():
    assert sum(path.stat().st_size for path in ARCHIVES) < 2_000_000 * len(ARCHIVES)
