"""Memory of a large forest: ``python -m benchmarks.ensemble.forest_memory [rows] [trees]``.

Whole trees (100 by default) on ``rows`` x 30 numbers, for classes and for numbers, each kind in a
process of its own. The peak is the most memory that the process had in its RAM up to that moment,
interpreter, libraries and the table included; "nodes" are the arrays of ``forest_``. The file is
read again, and its forest must be the same to the bit.
"""

import hashlib
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("classes", "numbers")
COLUMNS = 30
GB = 1e9


def peak() -> float:
    """The process's largest resident memory so far, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / GB


def table(n: int) -> tuple[Any, Any]:
    """Numbers, an interaction, and as much noise as signal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


def digest(model: Any) -> list[str]:
    """A number for every array of a forest and for some answers."""
    X, _ = table(1000)
    arrays = [part for part in model.forest_ if isinstance(part, np.ndarray)]
    return [hashlib.blake2b(part).hexdigest() for part in (*arrays, model.predict(X))]


def measure(kind: str, n: int, trees: int) -> str:
    """One line of the table."""
    import pellucid
    from pellucid import RandomForestClassifier, RandomForestRegressor

    model = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    X, y = table(n)
    y = y > 0 if kind == "classes" else y
    model(2, random_state=0).fit(X[:100], y[:100])
    before, begin = peak(), time.perf_counter()
    fitted = model(trees, random_state=0).fit(X, y)
    seconds, fit_peak = time.perf_counter() - begin, peak()
    nodes = sum(part.nbytes for part in fitted.forest_ if isinstance(part, np.ndarray))
    count = len(fitted.forest_.feature)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "forest.pellucid")
        begin = time.perf_counter()
        pellucid.save(fitted, path)
        saving, file = time.perf_counter() - begin, path.stat().st_size
        save_peak, wanted = peak(), digest(fitted)
        del fitted
        if digest(pellucid.load(path)) != wanted:
            raise AssertionError("the forest that was loaded is another one")
    return (
        f"{kind:8} {count / 1e6:8.2f} {nodes / count:6.1f} {before:9.2f} {fit_peak:9.2f} "
        f"{save_peak:9.2f} {peak():9.2f} {nodes / GB:9.3f} {file / GB:9.3f} "
        f"{seconds:8.1f} {saving:8.1f}"
    )


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        print(measure(arguments[1], int(arguments[2]), int(arguments[3])), flush=True)
        return 0
    n = int(arguments[0]) if arguments else 1_000_000
    trees = int(arguments[1]) if len(arguments) > 1 else 100
    print(f"{trees} trees on {n:,} x {COLUMNS} rows; GB = 10^9 bytes; peaks: fit, save, load")
    print(
        "kind      M nodes  B/node    before       fit      save      load     nodes      file"
        "  fit (s) save (s)"
    )
    for kind in KINDS:
        command = [sys.executable, "-m", "benchmarks.ensemble.forest_memory", "--one", kind, str(n)]
        subprocess.run([*command, str(trees)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
