"""`pellucid learn`, `report` and `card`, as a user runs them."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from pellucid.cli.shared.options import Code
from pellucid.cli.shared.tables import read_costs
from pellucid.data import load_table

MODELS = {"model.pellucid", "tested.pellucid"}
FILES = {"report.html", "report.json", "repeat.py", "predictions.csv"} | MODELS


def write(folder, name, columns):
    pl.DataFrame(columns).write_csv(folder / name)
    return name


@pytest.fixture
def line(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=160)
    return write(tmp_path, "line.csv", {"x": x, "u": rng.normal(size=160),
                                        "y": 3 * x + 1 + rng.normal(size=160)})  # fmt: skip


def test_penguins_end_to_end(pellucid, tmp_path):
    """The main job: five files, the verdict on the screen, and a script that agrees."""
    load_table("penguins").write_csv(tmp_path / "penguins.csv")
    done = pellucid("learn", "penguins.csv", "--target", "species", "--effort", "quick")
    assert done.code == Code.DONE, done.err
    assert done.err == ""
    assert max(map(len, done.out.splitlines())) <= 100
    folder = tmp_path / "pellucid-penguins"
    assert {path.name for path in folder.iterdir()} == FILES
    record = json.loads((folder / "report.json").read_text("utf-8"))
    assert record["verdict"]["kind"] == "shown"
    assert " ".join(record["verdict"]["text"][0].split()) in " ".join(done.out.split())
    assert "pellucid-penguins/report.html" in done.out
    again = subprocess.run(
        [sys.executable, "pellucid-penguins/repeat.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert again.returncode == 0, again.stdout + again.stderr
    assert "all figures agree" in again.stdout
    page = (folder / "report.html").read_text("utf-8")
    (folder / "report.html").unlink()
    assert pellucid("report", "pellucid-penguins/report.json").code == Code.DONE
    assert (folder / "report.html").read_text("utf-8") == page
    card = pellucid("card", "pellucid-penguins/model.pellucid")
    assert "LogisticRegression" in card.out or "LinearDiscriminantAnalysis" in card.out
    assert pellucid("card", "pellucid-penguins/model.pellucid", "--json").json["classes"]


def test_json_is_one_object_and_nothing_else(pellucid, line):
    done = pellucid("learn", line, "--target", "y", "--effort", "quick", "--json")
    assert done.code == Code.DONE
    assert done.json["schema"] == "pellucid-report/1"
    assert done.json["verdict"]["kind"] == "shown"
    assert len(done.json["files"]) == len(FILES)
    quiet = pellucid("learn", line, "--target", "y", "--quiet", "--overwrite", "--effort", "quick")
    assert quiet == (
        Code.DONE, "", "",
    )  # fmt: skip


def test_an_earlier_study_is_not_replaced_unasked(pellucid, line, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    done = pellucid("learn", line, "--target", "y", "--out", "out")
    assert done.code == Code.OUTPUT_EXISTS
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("empty.csv", b"", Code.DATA, "is empty"),
        ("ragged.csv", b"a,y\n1,2\n3\n4,5,6\n", Code.DATA, "line 3 has 1 cell"),
        ("binary.csv", bytes(range(256)) * 20, Code.DATA, "binary file"),
        ("one.csv", b"a,y\n" + b"1,same\n2,same\n" * 20, Code.TASK, "one class"),
        ("head.csv", b"a,y\n", Code.TASK, "no rows"),
        ("good.csv", b"a,yes\n" + b"1,2\n2,3\n" * 20, Code.DATA, "the nearest is: yes"),
    ],
    ids=["empty", "ragged", "binary", "one class", "no rows", "wrong column"],
)
def test_bad_tables_get_one_sentence(pellucid, tmp_path, name, content, code, words):
    (tmp_path / name).write_bytes(content)
    target = "yse" if name == "good.csv" else "y"
    done = pellucid("learn", name, "--target", target)
    assert done.code == code, done.err
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {name}  # nothing half-written


def test_no_file_no_target(pellucid, tmp_path):
    assert pellucid("learn", "nowhere.csv", "--target", "y").code == Code.DATA
    (tmp_path / "good.csv").write_text("a,yes\n1,2\n")
    done = pellucid("learn", "good.csv")
    assert done.code == Code.USAGE
    assert "give --target, one of the columns a, yes" in done.err


def test_the_bar_keeps_its_length_and_narrow_boards_leave_out_the_seconds(monkeypatch):
    """On 80 columns: no line is longer, and the time left is that of the whole study."""
    import io
    from types import SimpleNamespace

    from rich.console import Console

    from pellucid.cli import learn

    screen = Console(file=io.StringIO(), force_terminal=True, width=80, highlight=False)
    monkeypatch.setattr(learn, "console", lambda **_: screen)
    with learn.progress(False) as say:
        say("train", 3, 40, "regularised discriminant analysis on products, fold 1 of 10")
    shown = screen.file.getvalue()
    assert "train " in shown
    assert "━━━━━━━━\x1b" in shown  # ten long, two of them done
    assert "on products, fo…" in shown
    empty = SimpleNamespace(leaderboard=(), task=SimpleNamespace(metric="accuracy"))
    assert str(learn.board(empty, 80).columns[-1].header) == "complexity"
    assert str(learn.board(empty, 100).columns[-1].header) == "seconds"


def test_stdin(tmp_path, line):
    from pellucid.data import load

    command = ["pellucid", "learn", "-", "--target", "y", "--effort", "quick", "--json"]
    script = os.path.join(os.path.dirname(sys.executable), command[0])
    with (tmp_path / line).open("rb") as table:
        done = subprocess.run(
            [script, *command[1:]], cwd=tmp_path, stdin=table, capture_output=True, timeout=300
        )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["audit"]["n_rows"]
    assert rows == len(load(tmp_path / line))


def test_strict_turns_warnings_into_exit_1(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = np.where(x + rng.normal(size=120) > 0, "a", "b")
    write(tmp_path, "t.csv", {"x": x, "copy": np.where(y == "a", 1.0, 0.0), "y": y})
    done = pellucid("learn", "t.csv", "--target", "y", "--effort", "quick", "--strict")
    assert done.code == Code.FAILED_CHECK
    assert "PEL301" in done.out
    kept = pellucid("learn", "t.csv", "--target", "y", "--effort", "quick", "--keep", "copy",
                    "--overwrite")  # fmt: skip
    assert kept.code == Code.FAILED_CHECK  # a leak that is kept is an error


def obey_interrupts():
    """As at a terminal: what a shell starts in the background ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


INTERRUPTED = """
import os, signal, sys
from contextlib import contextmanager
from pellucid.cli import learn, main

@contextmanager
def progress(silent):
    def say(stage, done, total, text):
        if stage == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
    yield say

learn.progress = progress
main(["learn", "t.csv", "--target", "y", "--effort", "quick", "--out", "out"])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("stage", ["train", "evaluate"])
def test_interrupt_keeps_a_partial_report(tmp_path, stage):
    """Ctrl-C as a stage begins: what came before it is written, and no model."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    write(tmp_path, "t.csv", {"x": x, "y": np.where(x + rng.normal(size=200) > 0, "a", "b")})
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, stage],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, preexec_fn=obey_interrupts,
    )  # fmt: skip
    assert run.returncode == Code.INTERRUPTED, run.stderr
    assert "Traceback" not in run.stderr
    assert "partial report: out/report.html" in run.stderr
    data = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert "interrupted" in data["partial"]
    assert bool(data["leaderboard"]) == (stage == "evaluate")
    assert not (tmp_path / "out" / "model.pellucid").exists()


def test_costs_with_and_without_labels(tmp_path):
    path = tmp_path / "cost.csv"
    path.write_text("0,10\n60,0\n")
    assert read_costs(path, ["healthy", "sick"]) == [[0, 10], [60, 0]]
    path.write_text("truth,sick,healthy\nsick,0,60\nhealthy,10,0\n")
    assert read_costs(path, ["healthy", "sick"]) == [[0, 10], [60, 0]]


def test_cost_matrix_is_obeyed(pellucid, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = np.where(x + rng.normal(size=300) > 0.8, "sick", "well")
    write(tmp_path, "t.csv", {"x": x, "y": y})
    (tmp_path / "cost.csv").write_text("0,60\n10,0\n")
    done = pellucid("learn", "t.csv", "--target", "y", "--cost", "cost.csv", "--effort", "quick",
                    "--json")  # fmt: skip
    assert done.code == Code.DONE, done.err
    assert done.json["task"]["metric"] == "mean_cost"


def test_hostile_names_are_harmless(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    name = "<img src=x onerror=alert(1)>"
    write(tmp_path, "t.csv", {name: x, "kind": np.where(rng.random(120) > 0.5, name, "b"),
                              "y": np.where(x > 0, name, '"""\\n')})  # fmt: skip
    done = pellucid("learn", "t.csv", "--target", "y", "--effort", "quick", "--ignore", "PEL301")
    assert done.code in (Code.DONE, Code.FAILED_CHECK), done.err
    page = (tmp_path / "pellucid-t" / "report.html").read_text("utf-8")
    assert "<img" not in page
    compile((tmp_path / "pellucid-t" / "repeat.py").read_text("utf-8"), "repeat.py", "exec")


def test_groups_are_found_and_can_be_refused(pellucid, tmp_path):
    """Repeated measures are split by person; --groups none and --drop a,b are obeyed."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(20), 5)
    x = rng.normal(size=100)
    table = {"who": [f"p{k}" for k in who], "age": who**2 % 61, "x": x, "y": who % 3 + x}
    write(tmp_path, "visits.csv", table)
    call = ["learn", "visits.csv", "--target", "y", "--effort", "quick", "--candidates", "ridge"]
    kinds = {}
    for more in ((), ("--groups", "none"), ("--drop", "who,age")):
        record = pellucid(*call, *more, "--json", "--overwrite").json
        codes = {f["code"]: f["where"] for f in record["findings"]}
        kinds[more] = (record["split"]["kind"], codes.get("PEL308"))
    assert kinds[()] == ("groups", ["who"])
    assert kinds["--groups", "none"] == ("random", None)
    assert kinds["--drop", "who,age"] == ("random", None)
    assert record["reproduction"]["plan"]["drop"] == ["who", "age"]
