"""``pellucid migrate FILE``: a script's imports from scikit-learn that could be ours."""

import difflib
import io
import tokenize
from pathlib import Path

import click

from pellucid.cli.shared.options import Code, Stop, common, print_json, say


@click.command()
@click.argument("file", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--write", is_flag=True, help="Change the files; without it the diff is shown.")
@common("json", "quiet")
def migrate(file: tuple[Path, ...], write: bool, as_json: bool, quiet: bool) -> None:
    """Show which imports of a script can come from pellucid, as a diff.

    Names that pellucid does not have stay with scikit-learn and are listed. The exit code is 1 when
    a file would change and --write was not given, so that a script can ask.
    """
    from pellucid import __all__ as names
    from pellucid.core.migration import migrate as moved_imports

    records, pending = [], False
    for path in file:
        source, encoding = read_source(path)
        try:
            found = moved_imports(source, frozenset(names))
        except SyntaxError as error:
            where = f"line {error.lineno}: {error.msg}"
            raise Stop(Code.DATA, f"{str(path)!r} is not Python: {where}") from None
        except (RecursionError, MemoryError):  # what the parser says of an expression without end
            raise Stop(Code.DATA, f"{str(path)!r} is nested too deeply") from None
        records.append({"file": str(path), "moved": found.moved, "kept": found.kept})
        if found.text == source:
            continue
        if write:
            path.write_bytes(found.text.encode(encoding))
        else:
            pending = True
        if not as_json and not quiet:
            shown = source.splitlines(keepends=True), found.text.splitlines(keepends=True)
            diff = difflib.unified_diff(*shown, str(path), str(path))
            say("".join(diff), nl=False)
    if as_json:
        print_json({"files": records, "written": write})
    elif not quiet:
        for record in records:
            moved, kept = tuple(record["moved"]), tuple(record["kept"])
            say(in_words(str(record["file"]), moved, kept), err=True)
    if pending:
        raise click.exceptions.Exit(Code.FAILED_CHECK)


def read_source(path: Path) -> tuple[str, str]:
    """The text of a script and its encoding; notebooks and folders are refused by name."""
    if path.suffix == ".ipynb":
        how = "jupyter nbconvert --to script makes a script of it"
        raise Stop(Code.USAGE, f"{str(path)!r} is a notebook; {how}")
    if not path.is_file():
        raise Stop(Code.DATA, f"{str(path)!r} is {'a folder' if path.is_dir() else 'not there'}")
    raw = path.read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding), encoding  # the ends of its lines stay
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Stop(Code.DATA, f"{str(path)!r} is not Python: {trouble(error)}") from None


def trouble(error: Exception) -> str:
    """What is wrong with the bytes of a script.

    >>> trouble(SyntaxError("unknown encoding: x"))
    'unknown encoding: x'
    """
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return f"line {line} is not {error.encoding}, and no coding is declared in its first lines"
    return str(error)


def in_words(file: str, moved: tuple[str, ...], kept: tuple[str, ...]) -> str:
    """One line about a file.

    >>> in_words("a.py", ("Ridge",), ("sklearn.pipeline.Pipeline",))
    'a.py: 1 name from pellucid (Ridge); 1 stays with scikit-learn (sklearn.pipeline.Pipeline)'
    """
    names = "1 name" if len(moved) == 1 else f"{len(moved)} names"
    left = f"{len(kept)} {'stays' if len(kept) == 1 else 'stay'} with scikit-learn"
    first = f"{names} from pellucid" + (f" ({', '.join(moved)})" if moved else "")
    return f"{file}: {first}; {left}" + (f" ({', '.join(kept)})" if kept else "")
