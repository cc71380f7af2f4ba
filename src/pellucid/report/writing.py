"""The files of a study: page, data, models, script and predictions, each whole or not at all.

``model.pellucid`` is the model to use, which has learned from all rows; ``tested.pellucid`` is the
one that met the test rows, whose score and predictions the report shows.
"""

import json
import os
from pathlib import Path
from typing import Any

from pellucid.core.runtime.atomic import replacing
from pellucid.core.visible import visible
from pellucid.persist import save
from pellucid.report.folders import FILES, check_folder
from pellucid.report.rendering import render, to_json
from pellucid.report.scripts import script
from pellucid.study.records import StudyRecord


def write(
    record: StudyRecord, folder: str | os.PathLike[str], *, overwrite: bool = False
) -> list[Path]:
    """Write everything ``pellucid learn`` leaves behind; returns the paths.

    Parameters
    ----------
    record : StudyRecord
        A partial one gives what it has: no model and no predictions before the last stage.
    folder : path
        Made if need be.
    overwrite : bool, default=False
        Replace the files of an earlier study; other files in the folder are left alone.

    Examples
    --------
    >>> import tempfile
    >>> import pellucid
    >>> x = [7 * i % 23 for i in range(60)]
    >>> table = {"x": x, "y": [3 * v + i % 5 for i, v in enumerate(x)]}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(record, folder, overwrite=True)]
    ['report.html', 'report.json', 'model.pellucid', 'tested.pellucid', 'repeat.py', \
'predictions.csv']
    """
    folder = Path(os.fspath(folder))
    check_folder(folder, overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        write_text(folder / "report.json", dump(to_json(record))),
        write_text(folder / "report.html", render(record)),
        write_text(folder / "repeat.py", script(record)),
    ]
    if record.model is not None:
        record.save(folder / "model.pellucid")
        save(record.tested, folder / "tested.pellucid")
        written += [folder / "model.pellucid", folder / "tested.pellucid"]
    if record.final is not None and record.final.predictions:
        from pellucid.data import write_csv

        write_csv(columns_of(record.final.predictions), folder / "predictions.csv")
        written.append(folder / "predictions.csv")
    for name in FILES:  # of an earlier study: a stale model beside a new report would mislead
        if folder / name not in written:
            (folder / name).unlink(missing_ok=True)
    return sorted(written, key=lambda path: FILES.index(path.name))


def write_text(path: Path, text: str) -> Path:
    with replacing(os.fspath(path)) as file:
        file.write(text.encode("utf-8"))
    return path


def dump(data: dict[str, Any]) -> str:
    """JSON for people too: indented, no NaN.

    >>> dump({"a": [1, 2]})
    '{\\n "a": [\\n  1,\\n  2\\n ]\\n}\\n'
    """
    return visible(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1)) + "\n"


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """
    >>> columns_of([{"row": 1, "prediction": "a"}, {"row": 2, "prediction": "b"}])
    {'row': [1, 2], 'prediction': ['a', 'b']}
    """
    return {name: [row[name] for row in rows] for name in rows[0]}
