"""``pellucid migrate``: the imports of a script, as a diff and in place."""

import json

import pytest
from click.testing import CliRunner

from pellucid import __all__ as names
from pellucid.cli.migrate import migrate
from pellucid.cli.shared.options import Stop
from pellucid.core.migration import migrate as moved_imports

SCRIPT = """\
import sklearn.tree
from sklearn import linear_model, svm as machines
from sklearn.ensemble import (
    RandomForestClassifier as RF,  # trees
    RandomTreesEmbedding,
)
from sklearn.pipeline import make_pipeline

é = make_pipeline(linear_model.Ridge(alpha=1), machines.SVC())  # unchanged
tree = sklearn.tree.DecisionTreeClassifier(), linear_model.lars_path


def late():
    from sklearn.cluster import KMeans
    return KMeans
"""
MOVED = """\
import pellucid
import sklearn.tree
from sklearn import linear_model, svm as machines
# trees
from pellucid import RandomForestClassifier as RF
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.pipeline import make_pipeline

é = make_pipeline(pellucid.Ridge(alpha=1), pellucid.SVC())  # unchanged
tree = pellucid.DecisionTreeClassifier(), linear_model.lars_path


def late():
    from pellucid import KMeans
    return KMeans
"""


def test_names_move_and_everything_else_stays():
    found = moved_imports(SCRIPT, frozenset(names))
    assert found.text == MOVED
    moved = ("DecisionTreeClassifier", "KMeans", "RandomForestClassifier", "Ridge", "SVC")
    assert found.moved == moved
    kept = ("ensemble.RandomTreesEmbedding", "linear_model.lars_path", "pipeline.make_pipeline")
    assert found.kept == tuple(f"sklearn.{name}" for name in kept)
    assert moved_imports(MOVED, frozenset(names)).text == MOVED
    compile(found.text, "moved", "exec")


def test_names_that_scikit_learn_does_not_list_stay():
    source = "from sklearn.linear_model import np as Ridge\nfrom other import SVC\nimport sklearn\n"
    assert moved_imports(source, frozenset(names)).text == source


def test_a_module_of_the_same_name_stays_and_its_names_move_one_by_one():
    script = "from sklearn import cluster\nimport sklearn\n"
    script += "cluster.KMeans(3), cluster.AffinityPropagation(), sklearn.cluster.KMeans(2)\n"
    found = moved_imports(script, frozenset({"KMeans", "cluster"}))
    last = "pellucid.KMeans(3), cluster.AffinityPropagation(), pellucid.KMeans(2)"
    assert found.text.splitlines()[-1] == last
    assert found.moved == ("KMeans",)


def test_the_command_shows_then_writes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    shown = CliRunner().invoke(migrate, [str(script)])
    assert shown.exit_code == 1
    assert "+from pellucid import RandomForestClassifier as RF" in shown.stdout
    assert "5 names from pellucid" in shown.stderr
    assert script.read_text(encoding="utf-8") == SCRIPT
    assert CliRunner().invoke(migrate, [str(script), "--write", "--quiet"]).exit_code == 0
    assert script.read_text(encoding="utf-8") == MOVED
    again = CliRunner().invoke(migrate, [str(script), "--json"])
    assert again.exit_code == 0
    assert json.loads(again.stdout)["files"][0]["moved"] == []


def test_what_acts_in_a_script_is_written_out(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("from sklearn.svm import SVC  # \x1b[31m\u202e\n", encoding="utf-8")
    shown = CliRunner().invoke(migrate, [str(script)], color=True)
    assert "\\u001b[31m\\u202e" in shown.stdout
    assert not {"\x1b", "\u202e"} & set(shown.stdout)


def test_what_is_no_script_is_refused(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("from sklearn import (\n")
    deep = tmp_path / "deep.py"
    deep.write_text("x = " + "-" * 100_000 + "1")
    long = tmp_path / "long.py"
    long.write_text("x" + ".a" * 60_000)
    for path, code, words in (
        (broken, 3, "is not Python"),
        (deep, 3, "is nested too deeply"),
        (long, 3, "is nested too deeply"),
        (tmp_path, 3, "is a folder"),
        (tmp_path / "none.py", 3, "is not there"),
        (tmp_path / "a.ipynb", 2, "is a notebook"),
    ):
        with pytest.raises(Stop, match=words) as found:
            migrate.main([str(path)], standalone_mode=False)
        assert found.value.code == code


def test_line_separators_and_ends_of_lines_stay(tmp_path):
    """U+2028 within a text ends no line for Python; CRLF stays CRLF."""
    script = 'a = "x\u2028y"\r\nfrom sklearn.svm import SVC\r\n'
    path = tmp_path / "a.py"
    path.write_bytes(script.encode())
    assert CliRunner().invoke(migrate, [str(path), "--write"]).exit_code == 0
    assert path.read_bytes().decode() == script.replace("sklearn.svm", "pellucid")


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8-sig"),
        ("# -*- coding: latin-1 -*-\n", "latin-1"),
        ("# coding: cp1252\n", "cp1252"),
    ],
)
def test_a_script_stays_in_its_encoding(head, encoding, tmp_path):
    path = tmp_path / "a.py"
    script = head + "é = 1\nfrom sklearn.svm import SVC\n"
    path.write_bytes(script.encode(encoding))
    assert CliRunner().invoke(migrate, [str(path), "--write"]).exit_code == 0
    assert path.read_bytes() == script.replace("sklearn.svm", "pellucid").encode(encoding)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("a = 1\né = 2\n".encode("latin-1"), "line 2 is not utf-8, and no coding is declared"),
        (b"# coding: nonsense\n", "unknown encoding: nonsense"),
    ],
)
def test_bytes_that_are_no_text_are_refused(raw, words, tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    with pytest.raises(Stop, match=words):
        migrate.main([str(path)], standalone_mode=False)
