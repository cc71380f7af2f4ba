"""The table of commands, exit codes, one sentence for every error, and what an import costs."""

import os
import resource
import subprocess
import sys
import sysconfig
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pellucid.cli import COMMANDS, LazyGroup, cli
from pellucid.cli.shared.options import Code, Stop, check_output, code_of, sentence
from pellucid.study.errors import nearest

HEAVY = ("numpy", "sklearn", "numba", "polars", "scipy", "rich", "joblib", "matplotlib", "pandas")


def loaded_after(statement):
    code = f"import sys; {statement}; print(*[m for m in {HEAVY} if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()


@pytest.mark.parametrize(
    "statement",
    [
        "import pellucid",
        "import pellucid; dir(pellucid)",
        "import pellucid.cli",
        "from click.testing import CliRunner; import pellucid.cli; "
        "assert CliRunner().invoke(pellucid.cli.cli, ['--help']).exit_code == 0",
        "import pellucid.cli.data; from pellucid.cli.installation import doctor, warm",
    ],
)
def test_nothing_heavy_is_imported(statement):
    assert loaded_after(statement) == []


def cpu_seconds(command):
    """The least processor time of several runs: time on the wall depends on what else runs."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_import_is_fast():
    """Under 50 ms more than Python itself."""
    bare = cpu_seconds([sys.executable, "-c", "pass"])
    assert cpu_seconds([sys.executable, "-c", "import pellucid"]) - bare < 0.05


def test_help_is_fast():
    """Under 0.15 s from start to end."""
    script = Path(sysconfig.get_path("scripts")) / "pellucid"
    assert cpu_seconds([script, "--help"]) < 0.15


def test_help_names_every_command(pellucid):
    done = pellucid("--help")
    assert done.code == 0
    assert all(name in done.out and entry.help in done.out for name, entry in COMMANDS.items())
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize("name", COMMANDS)
def test_every_entry_leads_to_a_command(name):
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert isinstance(cli, LazyGroup)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0
    assert "--debug" in done.output


def test_version(pellucid):
    assert pellucid("--version").out == "pellucid 0.1.0\n"


def test_python_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "pellucid", "--version"], capture_output=True, text=True
    )
    assert done.stdout == "pellucid 0.1.0\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["docter"], ["docter", "doctor"]),
        (["zzz"], ["zzz", "doctor", "warm"]),
        (["--nonsense"], ["--nonsense"]),
        (["doctor", "--nonsense"], ["--nonsense", "pellucid doctor --help"]),
        (["doctor", "extra"], ["extra"]),
        (["warm", "--threads", "0"], ["0"]),
        (["data", "lst"], ["lst"]),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(pellucid, args, words):
    done = pellucid(*args)
    assert done.code == Code.USAGE
    assert done.out == ""
    assert done.err.startswith("pellucid: ")
    assert done.err.count("\n") == 1
    assert all(word in done.err for word in words)


def test_no_arguments_shows_help(pellucid):
    done = pellucid()
    assert done.code == Code.USAGE
    assert "Commands:" in done.err


def run_main(body, *args):
    """Run `main` with a command of our own in the table's place."""
    code = (
        "import click, sys\n"
        "from pellucid import cli\n"
        "from pellucid.cli.shared.options import Code, Stop, common\n"
        "@click.command()\n@common()\ndef doctor():\n"
        f"    {body}\n"
        "cli.LazyGroup.get_command = lambda self, ctx, name: doctor\n"
        "cli.main(['doctor', *sys.argv[1:]])\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("raise Stop(Code.TASK, 'y has one class')", 4, "pellucid: y has one class\n"),
        ("raise ValueError('n must be > 0, got 0')", 2, "pellucid: n must be > 0, got 0\n"),
        ("open('no.csv')", 3, "pellucid: No such file or directory: no.csv\n"),
        ("raise FileExistsError(17, 'File exists', 'a')", 6, "pellucid: File exists: a\n"),
        ("raise ImportError('pip install \"pellucid[dask]\"')", 2, "pellucid[dask]"),
        ("raise KeyboardInterrupt", 130, "pellucid: interrupted\n"),
        ("raise click.Abort", 130, "pellucid: interrupted\n"),
        ("1 / 0", 1, "pellucid: internal error, ZeroDivisionError: division by zero (run again"),
        ("sys.exit(7)", 7, ""),
        ("pass", 0, ""),
    ],
)
def test_errors(body, code, words):
    done = run_main(body)
    assert done.returncode == code
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0  # Click ends the line of a ^C first
    assert "Traceback" not in done.stderr


def test_model_file_error_is_code_5():
    done = run_main("from pellucid import ModelFileError; raise ModelFileError('hash mismatch')")
    assert (done.returncode, done.stderr) == (5, "pellucid: hash mismatch\n")


def test_debug_shows_the_traceback():
    done = run_main("raise ValueError('why')", "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "why" in done.stderr


@pytest.mark.parametrize("length", [10, 1_000_000])  # met at the last flush, or while writing
def test_a_closed_pipe_is_silent(length):
    read, write = os.pipe()
    os.close(read)
    code = (
        "import click, sys\nfrom pellucid import cli\n"
        "@click.command()\ndef doctor():\n    sys.stdout.write('x' * LENGTH)\n"
        "cli.LazyGroup.get_command = lambda self, ctx, name: doctor\n"
        "cli.main(['doctor'])\n"
    ).replace("LENGTH", str(length))
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_codes_follow_the_nearest_ancestor():
    class ModelFileError(ValueError):
        pass

    assert code_of(ModelFileError("x")) == Code.MODEL_FILE
    assert code_of(UnicodeDecodeError("utf-8", b"", 0, 1, "x")) == Code.DATA
    assert code_of(PermissionError("x")) == Code.DATA
    assert code_of(Stop(Code.TASK, "x")) == Code.TASK
    assert code_of(ZeroDivisionError("x")) == Code.FAILED_CHECK


def test_sentence_and_nearest():
    assert sentence(KeyError()) == "KeyError"
    assert sentence(ValueError("a\n b")) == "a b"
    assert "the nearest are: " in nearest("column", "colour", ["color", "colours", "size"])


def test_output_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "a.csv"
    check_output(path, overwrite=False)
    path.write_text("old")
    check_output(path, overwrite=True)
    with pytest.raises(Stop, match="exists already") as stopped:
        check_output(path, overwrite=False)
    assert stopped.value.code == Code.OUTPUT_EXISTS
    with pytest.raises(Stop, match="does not exist") as stopped:
        check_output(tmp_path / "no" / "a.csv", overwrite=False)
    assert stopped.value.code == Code.USAGE
