"""The promises of the textbook: short files that stand alone, explain themselves, are tested."""

import ast
import importlib
import inspect
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from agreement import LOOSEST
from sklearn.base import BaseEstimator

import pellucid
from pellucid import textbook

BOOK = Path(textbook.__file__).parent
FILES = sorted(p for p in BOOK.rglob("*.py") if p.name != "__init__.py")
PARAMETERS = [pytest.param(p, id=str(p.relative_to(BOOK))) for p in FILES]
ROOT = BOOK.parents[2]
TESTS = [
    pytest.param(p, id=p.stem) for p in sorted(Path(__file__).parent.rglob("test_textbook_*.py"))
]
ALLOWED = {"numpy", "scipy", *sys.stdlib_module_names}


def table():
    """Public name -> files of the textbook, and public name -> reason why it has none."""
    files, reasons = {}, {}
    for line in (BOOK / "methods.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, sign, rest = re.fullmatch(r"([\w.]+)(:| -) (.+)", line).groups()
            if sign == ":":  # a name may stand in several chapters
                files.setdefault(name, []).extend(BOOK / f"{path}.py" for path in rest.split())
            else:
                reasons[name] = rest
    assert not files.keys() & reasons.keys()
    return files, reasons


def code_lines(path):
    """The lines that hold code: no blank line, no comment, no docstring."""
    text = path.read_text(encoding="utf-8")
    lines = set()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skip and token.type != tokenize.ENDMARKER:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            lines -= set(range(first.lineno, first.end_lineno + 1))
    return len(lines)


@pytest.mark.parametrize("path", PARAMETERS)
def test_a_file_is_short_and_stands_alone(path):
    assert code_lines(path) <= 120
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        assert {name.partition(".")[0] for name in names} <= ALLOWED, names


@pytest.mark.parametrize("path", PARAMETERS)
def test_a_file_says_what_it_solves_why_at_what_cost_and_how_the_fast_version_differs(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    text = ast.get_docstring(tree)
    first, *rest = text.splitlines()
    letters = re.sub(r"[^a-z0-9]", "", first.lower())
    assert all(word in letters for word in path.stem.split("_")), "name the method first"
    labels = [m[1] for line in rest if (m := re.match(r"([A-Z]\w+) {2,}\S", line))]
    assert "Step" in labels[1:], "what is solved, then why the step is right"
    assert "Cost" in labels
    assert re.search(r"^The fast version ", text, re.MULTILINE)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert path.stem in functions, "one function is named after the method"


@pytest.mark.parametrize("chapter", sorted({p.parent.name for p in FILES}))
def test_a_chapter_is_listed_with_an_entry_that_exists(chapter):
    found = re.search(rf"^- ``{chapter}`` +begin with ``(\w+)``", textbook.__doc__, re.MULTILINE)
    assert found, "say in textbook/__init__.py which file to begin with"
    assert (BOOK / chapter / f"{found[1]}.py").exists()
    tree = ast.parse((BOOK / chapter / "__init__.py").read_text(encoding="utf-8"))
    assert len(tree.body) == 1, "a chapter's __init__ holds only its docstring"
    listed = ast.get_docstring(tree)
    methods = {p.stem for p in FILES if p.parent.name == chapter}
    missing = {name for name in methods if f"``{name}``" not in listed}
    assert not missing, "say in the chapter's docstring where it comes"


def test_every_file_is_tested_against_its_fast_twin():
    tests = "\n".join(p.read_text() for p in Path(__file__).parent.rglob("test_textbook_*.py"))
    names = {".".join(p.relative_to(BOOK).with_suffix("").parts) for p in FILES}
    assert not {name for name in names if f"pellucid.textbook.{name} import" not in tests}


COMPARISONS = {"assert_allclose", "assert_almost_equal", "assert_array_almost_equal"}
COMPARISONS |= {"assert_approx_equal", "allclose", "approx", "isclose"}
TOLERANCES = {"rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "decimal", "significant"}


def called(node):
    """The names of the functions that an expression calls."""
    functions = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in functions}


def is_tight(node):
    return isinstance(node, ast.Constant) and abs(node.value) <= LOOSEST


def is_loose(node):
    """Whether more than ``LOOSEST`` may pass: a tolerance, ``abs(..) < ..``, rounded numbers."""
    if isinstance(node, ast.Call):
        stated = [is_tight(word.value) for word in node.keywords if word.arg in TOLERANCES]
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return not all(stated) or (name in COMPARISONS and not stated)
    if isinstance(node, ast.Compare):
        less, more = node.left, node.comparators[-1]
        if isinstance(node.ops[0], ast.Gt | ast.GtE):
            less, more = more, less
        if isinstance(node.ops[0], ast.Eq):
            return bool(called(node) & {"round", "around"})
        return bool(called(less) & {"abs", "norm"}) and not is_tight(more)
    return False


def unreasoned(text):
    """Lines with a loose comparison that has no reason, and reasons of nothing loose."""
    tree, tokens = ast.parse(text), tokenize.generate_tokens(io.StringIO(text).readline)
    asserted = [p for n in ast.walk(tree) if isinstance(n, ast.Assert) for p in ast.walk(n.test)]
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    loose = {n: range(n.lineno - 1, n.end_lineno + 1) for n in {*asserted, *calls} if is_loose(n)}
    reasons = {t.start[0] for t in tokens if re.match(r"# looser: \w", t.string)}
    bare = {n.lineno for n, near in loose.items() if not reasons & set(near)}
    return sorted(bare | reasons - {i for near in loose.values() for i in near})


@pytest.mark.parametrize("path", TESTS)
def test_agreement_is_to_1e_8_or_says_why_not(path):
    """``same`` of ``agreement.py``, or ``# looser: why`` on the line or the one above."""
    found = unreasoned(path.read_text(encoding="utf-8"))
    assert not found, f"{path.name}: lines {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("same(a, b)", []),
        ("same(a, b, atol=1e-9)", []),
        ("same(a, b, atol=1e-7)", [1]),
        ("same(a, b, rtol=loose)", [1]),
        ("assert_allclose(a, b)", [1]),
        ("np.testing.assert_allclose(a, b, rtol=1e-10)", []),
        ("# looser: float32\nassert_allclose(a, b, atol=1e-6)", []),
        ("assert_allclose(\n    a, b, atol=1e-6\n)  # looser: float32", []),
        ("assert a == pytest.approx(b)", [1]),
        ("assert a == pytest.approx(b, rel=1e-9)", []),
        ("assert np.abs(a - b).max() < 0.1", [1]),
        ("assert abs(a - b) <= 1e-9", []),
        ("assert 0.1 > abs(a - b)", [1]),
        ("assert abs(a - b) > 0.1", []),
        ("assert a.round(3) == b", [1]),
        ("# looser: nothing is\nsame(a, b)", [1]),
        ("# looser:\nassert_allclose(a, b)", [2]),
    ],
)
def test_a_loose_comparison_is_seen(text, found):
    assert unreasoned(text) == found


def test_the_table_of_methods_is_true():
    files, reasons = table()
    for name in files | reasons:
        value = pellucid
        for part in name.split("."):
            deep = inspect.ismodule(value) and value.__name__ == "pellucid.deep"
            if deep or getattr(pellucid, "_HOME", {}).get(part, "").startswith("deep."):
                break  # needs PyTorch
            value = getattr(value, part)
    named = {path for paths in files.values() for path in paths}
    assert not [str(path) for path in named if not path.exists()]


def algorithms():
    """Every estimator, and every function that the table of what exists names."""
    found = {name for name, home in pellucid._HOME.items() if home.startswith("deep.")}
    for name in pellucid._HOME.keys() - found:
        value = getattr(pellucid, name)
        if inspect.isclass(value) and issubclass(value, BaseEstimator):
            found.add(name)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = (page.read_text(encoding="utf-8") for page in pages)
    text = next(
        text for text in texts if "What exists today" in text and "| least squares |" in text
    )
    text = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    patterns = {word.replace("*", r"\w*") for word in re.findall(r"`([A-Za-z_]+\*?)`", text)}
    for package in ("", *pellucid._PACKAGES):
        if package == "deep":
            continue  # needs PyTorch; its estimators are above
        module = importlib.import_module(f"pellucid.{package}".rstrip("."))
        for name in module.__all__:
            meant = any(re.fullmatch(pattern, name) for pattern in patterns)
            if meant and callable(getattr(module, name)):
                found.add(name)
    return found


def test_every_algorithm_has_its_method_or_a_reason():
    files, reasons = table()
    known = {name.rpartition(".")[2] for name in files.keys() | reasons.keys()}
    assert len(algorithms()) > 200
    assert algorithms() - known == set()


def test_every_file_belongs_to_a_public_name():
    """A method of the textbook is the oracle of something that the library offers."""
    named = {path for paths in table()[0].values() for path in paths}
    assert not [str(path.relative_to(BOOK)) for path in FILES if path not in named]


def test_the_page_of_an_algorithm_links_to_its_method():
    pages = {p.stem.replace("_", ""): p for p in (ROOT / "docs/algorithms").rglob("*.md")}
    files = {name.lower(): paths for name, paths in table()[0].items()}
    linked = {name: pages[name].read_text(encoding="utf-8") for name in pages.keys() & files.keys()}
    assert len(linked) > 60
    for name, text in linked.items():
        links = [f"textbook/{path.relative_to(BOOK).as_posix()}" for path in files[name]]
        assert any(link in text for link in links), pages[name]


WITH_THE_PACKAGE = {"pellucid", "pellucid._lazy", "pellucid.bridges", "pellucid.core"}
WITH_THE_PACKAGE |= {"pellucid.core.runtime", "pellucid.core.runtime.stand_ins"}


def test_it_imports_where_nothing_but_numpy_and_scipy_is_installed():
    names = [
        ".".join(("pellucid.textbook", *p.relative_to(BOOK).with_suffix("").parts)) for p in FILES
    ]
    blocked = ["numba", "polars", "matplotlib", "sklearn", "narwhals", "joblib", "torch", "pandas"]
    program = (
        "import sys, importlib\n"
        f"for name in {blocked}: sys.modules[name] = None\n"
        f"for name in {names}: importlib.import_module(name)\n"
        f"allowed = {WITH_THE_PACKAGE}\n"
        "ours = {m for m in sys.modules if m.split('.')[0] == 'pellucid'} - allowed\n"
        "assert all(m.startswith('pellucid.textbook') for m in ours), ours\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
