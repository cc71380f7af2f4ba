"""Folders of the commands without a target: refused if full, each file whole or not at all."""

import shlex
import sys
from pathlib import Path
from typing import Any


def default_folder(data: str, what: str) -> Path:
    """
    >>> default_folder("tables/sales.csv", "clusters")
    PosixPath('pellucid-sales-clusters')
    """
    from pellucid.cli.learn import stem

    return Path(f"pellucid-{stem(data)}-{what}")


def write_folder(
    folder: Path, record: dict[str, Any], tables: dict[str, Any], model: Any
) -> list[Path]:
    """report.html, report.json, the CSV files and the model."""
    import pellucid
    from pellucid.data import write_csv
    from pellucid.report.tables.pages import render_record
    from pellucid.report.writing import dump, write_text

    page = render_record(record)
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        write_text(folder / "report.html", page),
        write_text(folder / "report.json", dump(record)),
    ]
    for name, columns in tables.items():
        write_csv(columns, folder / name)
        written.append(folder / name)
    if model is not None:
        pellucid.save(model, folder / "model.pellucid")
        written.append(folder / "model.pellucid")
    return written


def with_command(record: dict[str, Any], data: str) -> dict[str, Any]:
    """A record with the table and the command as they were typed."""
    source = data if "://" not in data else "a database"
    return record | {"source": source, "command": command_line(data)}


def keep_json(record: dict[str, Any], out: Path | None) -> None:
    """Write the record where --out asks for it."""
    if out is not None:
        from pellucid.report.writing import dump, write_text

        write_text(out, dump(record))


def command_line(data: str) -> str:
    """The command as it was given; the address of a database without its secrets."""
    from pellucid.data.sql import without_password

    said = [without_password(word) if word == data else word for word in sys.argv[1:]]
    return f"pellucid {shlex.join(said)}"
