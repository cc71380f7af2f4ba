"""Characters that act instead of showing never reach a screen or a page."""

import json
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

import pellucid.cli
from pellucid.cli import cli
from pellucid.cli.shared.options import console, grid
from pellucid.core.visible import visible
from pellucid.report.scripts import safe
from pellucid.report.writing import dump

ACTING = [
    "\x1b[31m",
    "\x9b31m",
    "\x07",
    "\x00",
    "\x7f",
    "\u202e",
    "\u200f",
    "\u2067",
    "\u2028",
    "\ud800",
]


@pytest.mark.parametrize("acting", ACTING)
def test_what_acts_is_written_out(acting):
    assert visible(f"a{acting}b") == f"a\\u{ord(acting[0]):04x}{acting[1:]}b"
    assert json.loads(visible(json.dumps(f"a{acting}b", ensure_ascii=False))) == f"a{acting}b"


def test_what_shows_stays():
    text = "naïve 数 \U0001f469\u200d\U0001f4bb \u00a0 العربية\n\tx"
    assert visible(text) == text
    assert visible("a\tb\nc", one_line=True) == "a\\u0009b\\u000ac"


def process(tmp_path, name):
    path = tmp_path / "p.json"
    walk = {name: {"go": {name: 1.0}}}
    path.write_text(json.dumps({"transitions": walk, "rewards": {name: 1}}))
    return str(path)


@pytest.mark.parametrize("acting", ["\x1b[31m", "\x9b31m", "\u202e"])
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_names_of_states_on_the_screen(tmp_path, acting, option):
    done = CliRunner().invoke(cli, ["solve", process(tmp_path, f"s{acting}"), *option])
    assert done.exit_code == 0
    assert acting not in done.output
    assert f"\\u{ord(acting[0]):04x}" in done.output


@pytest.mark.parametrize("acting", ["\x1b[31m", "\x9b31m", "\u202e"])
def test_styled_words_on_the_screen(acting, capsys):
    """They went past: a name in a bold verdict, in a finding, in a coloured cell."""
    name, screen = Text(f"a{acting}b", style="bold"), console()
    table = grid(["x", "y"], [(name, "1")])
    for shown in (name, Padding(name, 1), Panel(name, title=name), table, Group(name, table)):
        screen.print(shown)
        out = capsys.readouterr().out
        assert acting not in out
        assert f"\\u{ord(acting[0]):04x}" in out


def test_a_column_of_a_query_on_the_screen(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (y)")
        connection.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(60)])
    connection.close()
    sql = 'SELECT y * 7919 % 60 || "x" AS "a\x1b[2J\u202e", y FROM t'
    done = CliRunner().invoke(
        cli, ["audit", f"sqlite:///{path}", "--sql", sql.replace('"x"', "'x'")]
    )
    assert done.exit_code == 0, done.output
    assert not {"\x1b", "\u202e"} & set(done.output)
    assert "\\u001b[2J" in done.output


def test_names_in_sentences_about_errors(tmp_path):
    from pellucid.cli.shared.options import sentence

    assert sentence(ValueError("no column 'a\x1b[2J'")) == "no column 'a\\u001b[2J'"


def test_the_commands_print_in_one_place():
    """``say`` and the console write out what acts; nothing is printed past them."""
    told = {
        path.name: len(
            re.findall(r"click\.echo\(|(?<!def )(?<![\w.])print\(", path.read_text("utf-8"))
        )
        for path in Path(pellucid.cli.__file__).parent.rglob("*.py")
    }
    assert {name: n for name, n in told.items() if n} == {"options.py": 1}


@pytest.mark.parametrize("acting", ACTING)
def test_reports_and_scripts_as_files(acting):
    record = {"column": f"a{acting}b"}
    text = dump(record)
    assert acting not in text
    assert json.loads(text) == record
    assert acting not in safe(f"Can a{acting}b be predicted?")
