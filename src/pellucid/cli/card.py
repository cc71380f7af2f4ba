"""``pellucid card MODEL``: what a model file holds, without loading its arrays."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import Code, Stop, common, console, grid, print_json


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@common("json", "quiet")
def card(model: Path, as_json: bool, quiet: bool) -> None:
    """Show the card of a model file: what it is, what it minimised, how, on which inputs."""
    from pellucid.persist import inspect

    if not model.is_file():
        what = "a folder" if model.is_dir() else "not there"
        raise Stop(Code.MODEL_FILE, f"{str(model)!r} is {what}; give a model file")
    found = inspect(model)
    if as_json:
        print_json(found)
    elif not quiet:
        screen = console()
        screen.print(grid(("", ""), card_rows(model, found)))


def card_rows(model: Path, found: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and words, one line each."""
    rows = [("file", f"{model} ({found['bytes'] / 1024:,.0f} KB, version {found['version']})")]
    rows.append(("made of", ", ".join(name.rsplit(".", 1)[-1] for name in found["classes"])))
    schema = found.get("schema") or {}
    names = schema.get("feature_names_in_") or []
    if names:
        rows.append(
            (
                "inputs",
                f"{len(names)}: {', '.join(map(str, names[:12]))}"
                + (", ..." if len(names) > 12 else ""),
            )
        )
    elif schema.get("n_features_in_"):
        rows.append(("inputs", str(schema["n_features_in_"])))
    for name, text in (found.get("card") or {}).items():
        if text:
            rows.append((name, words(text)))
    library = found.get("library") or {}
    rows.append(("written with", ", ".join(f"{k} {v}" for k, v in library.items())))
    return rows


def words(value: object) -> str:
    """
    >>> words({"C": 1.0, "aic": 51.8767828937524, "rows": 275}), words(["a", "b"])
    ('C = 1, aic = 51.88, rows = 275', 'a; b')
    """
    if isinstance(value, dict):
        return ", ".join(
            f"{k} = {v:.4g}" if isinstance(v, float) else f"{k} = {v}" for k, v in value.items()
        )
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
