"""Write a model file of every estimator: ``python tests/persist/make_every_file.py``.

Run once for every released version. The archive of a version that exists is kept, for it is the
test that the files of that version stay readable; a class that came later is added to the archive
of the current version. Each file is accompanied by rows and by what the model answered to them.
"""

import io
import json
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent.parent / "helpers"))
from estimators import data, fit, make, public_classes

import pellucid

DATA = Path(__file__).parent / "data"
ROWS, ASKED = 40, 6
WAYS = ("predict", "transform", "score_samples", "decision_function", "sample")


def plain(value):
    """An answer as JSON."""
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return np.asarray(value).tolist()


def answer(model, X):
    """The way a model is asked, and what it answers; None where it has no rows to answer to."""
    for way in WAYS[:4]:
        if hasattr(model, way):
            return way, plain(getattr(model, way)(X))
    return None


def stored(name, cls):
    """(model file, question and answer) of a class."""
    X, y = data(cls, ROWS)
    model = fit(make(cls), X, y)
    rows = X[:ASKED]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pellucid"
        pellucid.save(model, path, slim=True)
        model = pellucid.load(path)
        found = answer(model, rows)
        return path.read_bytes(), {"X": plain(rows), "answer": found}


def archive(version=pellucid.__version__):
    return DATA / f"every_{version}.zip"


def main():
    path, parts = archive(), {}
    if path.exists():
        with zipfile.ZipFile(path) as old:
            parts = {name: old.read(name) for name in old.namelist()}
    for name, cls in sorted(public_classes().items()):
        if f"{name}.pellucid" in parts or cls.__module__.startswith("pellucid.deep"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, asked = stored(name, cls)
            parts[f"{name}.json"] = json.dumps(asked).encode()
            parts[f"{name}.pellucid"] = model
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            print(f"{name}: {error}")
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_LZMA) as new:
        for name in sorted(parts):
            new.writestr(zipfile.ZipInfo(name), parts[name], zipfile.ZIP_LZMA)
    path.write_bytes(whole.getvalue())
    print(f"{path}: {len(parts) // 2} classes, {len(whole.getvalue()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
