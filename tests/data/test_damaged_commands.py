"""The commands on damaged files: an answer or one sentence, no internal error, no "interrupted"."""

import io
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

import pytest
from damaged_inputs import KINDS, NETWORKS, TABLES, bad, good, processes

from pellucid.cli import main
from pellucid.cli.shared.options import Code

SLICE = 100
WHOLE = {"process.json": 10_000}  # its readers are those of the library; of the rest, a share
SENT = ("internal error", "interrupted", "Traceback")


def command(kind, path):
    if kind in TABLES:
        return ["audit", str(path), "--json"]
    return ["network", str(path)] if kind in NETWORKS else ["solve", str(path), "--json"]


def answer(arguments):
    """(exit code, what was written to stderr); what nobody foresaw leaves as it is."""
    hook, err = sys.excepthook, io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")  # the commands say them
            main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0), err.getvalue()
    finally:
        sys.excepthook = hook
    raise AssertionError("main came back")


def faults(kind, folder, seeds):
    """The seeds whose files were not answered as they should be."""
    path, found = folder / f"t.{kind}", []
    for seed in seeds:
        path.write_bytes(bad(kind, seed))
        try:
            code, said = answer(command(kind, path))
        except Exception as error:  # noqa: BLE001  main would have called it an internal error
            found.append((seed, f"{type(error).__name__}: {error}"[:200]))
            continue
        unsaid = code not in (Code.DONE, Code.FAILED_CHECK) and not said.startswith("pellucid: ")
        acts = any(ord(letter) < 32 and letter != "\n" for letter in said)
        if code == Code.INTERRUPTED or unsaid or acts or any(word in said for word in SENT):
            found.append((seed, code, said[:200]))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_good_files_are_answered(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    path.write_bytes(processes()[0] if kind.startswith("process") else good(kind))
    assert answer(command(kind, path))[0] in (Code.DONE, Code.FAILED_CHECK)


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_damage(kind, tmp_path):
    assert not faults(kind, tmp_path, range(20_000, 20_010))


def test_a_packed_network_that_ends_early_is_no_interruption(tmp_path):
    path = tmp_path / "t.bif.gz"
    path.write_bytes(good("bif.gz")[:200])
    code, said = answer(["network", str(path)])
    assert code != Code.INTERRUPTED
    assert "is a broken gzip file" in said


CASES = [(kind, first) for kind in KINDS for first in range(0, WHOLE.get(kind, 1000), SLICE)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first"), CASES)
def test_more_of_the_damage(kind, first, tmp_path):
    assert not faults(kind, tmp_path, range(first, first + SLICE))
