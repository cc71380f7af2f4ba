"""The tool that makes wrong changes: what it changes, what it leaves alone, what it runs."""

import tomllib
from pathlib import Path

import pytest
from mutation_forks import give_new_code, is_compiled
from mutation_sites import KINDS, Change, changed, changes
from mutation_trials import ROOT, Mutant, nearest_files, users

EXAMPLES = [
    ("compare", "x = a < b", "x = a <= b"),
    ("compare", "x = a in b", "x = a not in b"),
    ("direction", "x = a >= b", "x = a <= b"),
    ("sign", "x = (a) - (b)", "x = (a) + (b)"),
    ("sign", "x = -a", "x = a"),
    ("logic", "x = a and b", "x = a or b"),
    ("other end", "x = np.maximum(a, b)", "x = np.minimum(a, b)"),
    ("other end", "x = min(a)", "x = max(a)"),
    ("number", "x = 3", "x = 4"),
    ("number", "x = 0.5", "x = 1.0"),
    ("number", "x = True", "x = False"),
    ("guard", "if a:\n    raise b", "if False:\n    raise b"),
    ("check", "check.positive(a=a)", "pass"),
    ("not", "x = not a", "x = a"),
    ("not", "x = not (a or b)", "x = (a or b)"),
    ("sign", "x = -(a)", "x = (a)"),
]


@pytest.mark.parametrize(("kind", "text", "wrong"), EXAMPLES)
def test_each_kind_of_change(kind, text, wrong):
    found = [changed(text, change) for change in changes(text) if change.kind == kind]
    assert found == [wrong]


def test_every_kind_has_an_example():
    assert {kind for kind, _, _ in EXAMPLES} == set(KINDS)


LEFT_ALONE = [
    '"""Below 3 and above 2."""',
    "def f(a: int = 3) -> None: ...",
    "@cache(1)\ndef f(): ...",
    "x = f'{3} and {4}'",
    "x = 'a' + 'b'",
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_text_defaults_and_decorators_are_left_alone(text):
    assert not list(changes(text))


@pytest.mark.parametrize("path", ["core/figures.py", "study/judging/jackknife.py"])
def test_every_change_of_a_real_file_compiles(path):
    text = (ROOT / "src/pellucid" / path).read_text()
    found = list(changes(text))
    assert found
    for change in found:
        new = changed(text, change)
        compile(new, "changed", "exec")
        assert new != text


def test_columns_are_counted_in_bytes():
    """A letter of two bytes before the change does not move it."""
    text = "x = 'ü', a < b"
    assert [changed(text, c) for c in changes(text) if c.kind == "compare"] == ["x = 'ü', a <= b"]


def test_the_nearest_tests_come_first(tmp_path):
    """The file of the module's name first, and every test of the package once."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "src").symlink_to(ROOT / "src")
    mutant = Mutant(Path("linear/lars/stagewise.py"), "linear", Change("not", 0, 0, ""))
    near, others = nearest_files(tmp_path, mutant)
    assert Path(near[1 if near[0].startswith("src/") else 0]).name == "test_stagewise.py"
    everything = [str(p.relative_to(ROOT)) for p in (ROOT / "tests/linear").rglob("test_*.py")]
    assert sorted(name for name in near + others if name.startswith("tests/")) == sorted(everything)


def test_equivalent_changes_still_stand_in_the_source():
    """An entry whose line is gone is removed, and each says why no test can see it."""
    table = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())
    for entry in table.get("change", []):
        lines = (ROOT / "src/pellucid" / entry["file"]).read_text().splitlines()
        assert entry["line"] in [line.strip() for line in lines], entry
        assert len(entry["reason"]) > 20


def test_users_of_a_module_are_found_however_they_import_it():
    """By name, by its folder, over several lines, and through others."""
    found = users(Path("features/encoding/category_table.py"))
    assert "ensemble.boosting.hist_table" in found
    assert {"linear.lars.lars", "linear.subsets.stepwise"} <= users(Path("core/arrays/check.py"))
    assert "evaluation.explain.importance" in users(Path("core/runtime/jit.py"))


def test_functions_that_are_loaded_get_the_changed_code(tmp_path, monkeypatch):
    """Also those that another module took in, methods and inner ones; not the body of a class."""
    method = "class A:\n    z = 1\n    def g(self, x): return [x < y for y in (1, 2)]\n"
    before = "K = 2\ndef f(x): return x + K\n" + method
    path = tmp_path / "changed_here.py"
    path.write_text(before)
    monkeypatch.syspath_prepend(tmp_path)
    from changed_here import A, f

    assert give_new_code(path, before, before.replace("x + K", "x - K"))
    assert give_new_code(path, before, before.replace("x < y", "x >= y"))
    assert (f(5), A().g(1)) == (3, [True, False])
    assert not give_new_code(path, before, before.replace("z = 1", "z = 2"))


def test_compiled_functions_are_tried_apart():
    before = "@jit\ndef f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n"
    assert is_compiled(before, before.replace("x + 1", "x - 1", 1))
    assert not is_compiled(before, before[:30] + before[30:].replace("x + 1", "x - 1"))


def test_a_constant_is_changed_wherever_it_was_taken_in(monkeypatch):
    """By its own module and by one that imported the name."""
    from pellucid.neural import mlp_model
    from pellucid.neural.training import trainer

    path = Path(trainer.__file__)
    before = path.read_text()
    monkeypatch.setattr(mlp_model, "JUDGED", trainer.JUDGED)
    monkeypatch.setattr(trainer, "JUDGED", trainer.JUDGED)  # put back after the test
    assert give_new_code(path, before, before.replace("JUDGED = 3", "JUDGED = 4"))
    assert trainer.JUDGED == mlp_model.JUDGED == 4
