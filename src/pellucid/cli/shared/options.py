"""What the commands share: options, exit codes, one way to fail and one way to print.

Nothing heavy is imported here: this module is loaded by ``pellucid --help``.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import click

from pellucid.core.visible import visible
from pellucid.study.errors import OptionError


class Code(IntEnum):
    """Exit codes, the same for every command."""

    DONE = 0
    FAILED_CHECK = 1
    USAGE = 2
    DATA = 3
    TASK = 4
    MODEL_FILE = 5
    OUTPUT_EXISTS = 6
    INTERRUPTED = 130


class Stop(click.ClickException):
    """End the command with one sentence and an exit code."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


# Classes are named, not imported: their modules are heavy. The nearest ancestor counts.
_CODES = {
    "ModelFileError": Code.MODEL_FILE,
    "TaskError": Code.TASK,
    "FileExistsError": Code.OUTPUT_EXISTS,
    "OSError": Code.DATA,
    "UnicodeError": Code.DATA,
    "ValueError": Code.USAGE,
    "ImportError": Code.USAGE,
    "MemoryError": Code.DATA,
}


def code_of(error: BaseException) -> int:
    """The exit code of an error.

    >>> code_of(FileNotFoundError("no such file")), code_of(ValueError("n must be > 0"))
    (<Code.DATA: 3>, <Code.USAGE: 2>)
    """
    if isinstance(error, Stop):
        return error.code
    if isinstance(error, click.ClickException):
        return error.exit_code
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_CODES[name] for name in names if name in _CODES), Code.FAILED_CHECK)


def sentence(error: BaseException) -> str:
    """The message of an error on one line.

    >>> sentence(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'No such file or directory: a.csv'
    >>> sentence(ValueError("first\\n  second"))
    'first second'
    >>> sentence(MemoryError("Unable to allocate 745. GiB"))
    'there is not enough memory: Unable to allocate 745. GiB'
    """
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "pellucid"
        text = f"{error.format_message().rstrip('.')} (see `{path} --help`)"
    elif isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.strerror}: {error.filename}"
    elif isinstance(error, MemoryError):
        text = f"there is not enough memory: {error}".removesuffix(": ")
    elif isinstance(error, OptionError):
        text = error.typed
    else:
        text = str(error) or type(error).__name__
    return visible(" ".join(text.split()), one_line=True)


def _set_threads(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    """Set before NumPy is loaded, so that BLAS, our pool and child processes all obey."""
    if value is not None:
        for name in ("PELLUCID", "OPENBLAS", "MKL", "OMP"):
            os.environ[f"{name}_NUM_THREADS"] = str(value)


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "json": click.option("--json", "as_json", is_flag=True, help="Print one JSON object, only."),
    "quiet": click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    "seed": click.option(
        "--seed",
        "--random-state",
        "seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of everything random.",
    ),
    "threads": click.option(
        "--threads",
        type=click.IntRange(min=1),
        callback=_set_threads,
        expose_value=False,
        is_eager=True,
        help="Threads to use (default: all cores).",
    ),
    "out": click.option("--out", type=click.Path(path_type=Path), help="File to write."),
    "overwrite": click.option("--overwrite", is_flag=True, help="Replace an existing file."),
    "debug": click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
    ),
}


def common(*names: str) -> Callable[[Any], Any]:
    """Add the common options that apply to a command; ``--debug`` always does."""

    def decorate(function: Any) -> Any:
        for name in reversed((*names, "debug")):
            function = _OPTIONS[name](function)
        return function

    return decorate


def check_output(path: Path, overwrite: bool) -> None:
    """Refuse to write over a file that is there."""
    if path.exists() and not overwrite:
        raise Stop(Code.OUTPUT_EXISTS, f"{path} exists already; --overwrite replaces it")
    if not path.parent.is_dir():
        raise Stop(Code.USAGE, f"the folder {path.parent} does not exist")


def check_json(path: Path) -> None:
    """What is kept as JSON is not given the name of a page or a table: a browser would run it."""
    if path.suffix.lower() in (".html", ".htm", ".csv", ".svg"):
        raise Stop(Code.USAGE, f"the record is kept as JSON; give a name such as {path.stem}.json")


def print_json(record: object) -> None:
    """Print one JSON object: arrays as lists, NaN and infinities as null."""
    import json

    from pellucid.core.records import plain

    say(json.dumps(plain(record), ensure_ascii=False, allow_nan=False))


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print words in which names of columns, labels and files may stand: what would act on a
    terminal is written out."""
    click.echo(visible(str(text)), err=err, nl=nl)


def console(*, stderr: bool = False) -> Any:
    """Rich's console; never wider than 100 columns, which is also the width of a pipe or file.

    Text that acts on a terminal instead of showing is written out.
    """
    from rich.console import Console

    class Screen(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)

        def render(self, renderable: Any, options: Any = None) -> Iterator[Any]:
            for part in super().render(renderable, options):  # of a styled text or a table too
                yield part if part.control else part._replace(text=visible(part.text))

    wide = Console(stderr=stderr)
    return Screen(
        stderr=stderr,
        width=min(wide.width, 100) if wide.is_terminal else 100,
        highlight=False,
        markup=False,
        soft_wrap=False,
    )


def grid(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Iterable[int] = ()
) -> Any:
    """A plain table: headings, aligned columns, no lines; ``right`` lists columns of numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
        show_header=any(columns),
    )
    numbers = set(right)
    for j, name in enumerate(columns):
        heading = Text(visible(name, one_line=True))
        table.add_column(heading, justify="right" if j in numbers else "left")
    for row in rows:
        table.add_row(
            *(
                Text(visible(cell.plain), cell.style)
                if isinstance(cell, Text)
                else Text(visible(str(cell), one_line=True))
                for cell in row
            )
        )
    return table
