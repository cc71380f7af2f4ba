"""The command line: ``pellucid COMMAND``.

``COMMANDS`` is the whole interface: a name, where the command lives, one line of help. A module
is imported when its command runs, so ``pellucid --help`` loads Click and nothing else. Adding a
command adds one line here. Each command has a file of its own: read ``learn.py`` first.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from pellucid import __version__
from pellucid.cli.shared.options import Code, code_of, say, sentence
from pellucid.core.visible import visible
from pellucid.study.errors import nearest


class Entry(NamedTuple):
    """One line of the table: ``home`` is ``module:function`` under ``pellucid``."""

    home: str
    help: str


COMMANDS = {
    "anomalies": Entry("cli.anomalies:anomalies", "Find the rows unlike the others, and say why."),
    "audit": Entry("cli.audit:audit", "Look a table over before anything is learned from it."),
    "card": Entry("cli.card:card", "Show the card of a model file without loading its arrays."),
    "cluster": Entry("cli.cluster:cluster", "Group the rows of a table, if they form groups."),
    "compare": Entry("cli.compare:compare", "Judge models on the same folds, with tests."),
    "data": Entry("cli.data:data", "List, show and make the bundled tables and generators."),
    "demo": Entry("cli.demo:demo", "Run the course's own example of a method."),
    "doctor": Entry(
        "cli.installation.doctor:doctor", "Say what is installed and whether it works."
    ),
    "evaluate": Entry("cli.evaluate:evaluate", "Score a saved model on rows with known answers."),
    "explain": Entry("cli.explain:explain", "Say why a saved model says what it says."),
    "lab": Entry("cli.lab:lab", "Watch an algorithm step by step in the browser."),
    "learn": Entry("cli.learn:learn", "Study a table: an answer, a report, a model, a script."),
    "migrate": Entry("cli.migrate:migrate", "Show which imports of a script can be ours."),
    "network": Entry("cli.network:network", "Ask a Bayesian network: posteriors, independence."),
    "predict": Entry("cli.predict:predict", "Predict new rows with a saved model."),
    "reduce": Entry("cli.reduce:reduce", "Find the few directions in which a table varies."),
    "report": Entry("cli.report:report", "Render the page of a record again from its JSON."),
    "serve": Entry("cli.serve:serve", "Answer rows over HTTP with a saved model."),
    "solve": Entry("cli.solve:solve", "Solve a Markov decision process that is written down."),
    "sweep": Entry("cli.sweep:sweep", "Score a model along one of its parameters."),
    "teach": Entry("cli.course.teach:teach", "List, write and grade sheets of exercises."),
    "warm": Entry(
        "cli.installation.warm:warm", "Compile every kernel ahead, for a fast first use."
    ),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name].home.split(":")
        return getattr(import_module(f"pellucid.{module}"), function)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(nearest("command", args[0], COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`pellucid COMMAND --help` shows the options of a command.",
)
@click.version_option(__version__, prog_name="pellucid", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Machine learning you can see through."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code; an error is one sentence on stderr.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    arguments = list(sys.argv[1:] if args is None else args)
    if "--debug" in arguments:
        sys.exit(cli.main(arguments, "pellucid", standalone_mode=False))
    sys.excepthook = _last_resort
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _remark
            if "--quiet" in arguments:  # nothing but errors
                warnings.simplefilter("ignore")
            code = cli.main(arguments, "pellucid", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = Code.USAGE
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # Click takes it for the end of the keyboard
            say(f"pellucid: a file ends early: {sentence(error.__cause__)}", err=True)
            code = Code.DATA
        else:
            say("pellucid: interrupted", err=True)
            code = Code.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `pellucid ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        code = Code.FAILED_CHECK  # what Click answers when it meets this itself
    except (click.ClickException, OSError, ValueError, ImportError, MemoryError) as error:
        say(f"pellucid: {sentence(error)}", err=True)
        code = code_of(error)
    sys.exit(code or Code.DONE)


def _remark(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    """A warning is one sentence too, without the line of code that gave it."""
    text = visible(" ".join(str(message).split()), one_line=True)
    say(f"pellucid: note: {text}", err=True)


def _last_resort(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """What nobody foresaw is still one sentence; Python then leaves with code 1."""
    say(
        f"pellucid: internal error, {kind.__name__}: {sentence(error)} "
        "(run again with --debug for the traceback)",
        err=True,
    )
