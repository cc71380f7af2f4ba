"""The layer contract of DESIGN.md, and the habits that a reader relies on."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src/pellucid").rglob("*.py"))
CALLS, PICKLES = {"print", "eval", "exec"}, {"pickle", "dill", "cloudpickle"}
COMPILER = {  # what compiling cannot do without; a cache of kernels is code (SECURITY.md)
    "files.py": "pickle",  # Numba keeps what it compiled as a pickle
    "plain.py": "exec",  # the plain form of a kernel is its own source with NumPy's arithmetic
}


def test_layers():
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [pytest.param(p, id=p.name) for p in SOURCES])
def test_habits(path):
    tree = ast.parse(path.read_text())
    allowed = COMPILER.get(path.name) if path.parent.name == "compiling" else None
    assert ast.get_docstring(tree), "a module says what it is"
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            if isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None:
                continue  # tidies up and lets the error go on
            assert caught not in ("everything", "Exception", "BaseException"), node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id == allowed or node.func.id not in CALLS, node.lineno
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or node.names[0].name
            assert module == allowed or module.split(".")[0] not in PICKLES, node.lineno
            forbidden = ("linear_model", "cluster", "naive_bayes", "svm", "tree", "ensemble")
            forbidden += ("mixture", "neighbors", "decomposition", "neural_network")
            forbidden += ("preprocessing", "impute", "feature_selection", "cross_decomposition")
            forbidden += ("isotonic", "calibration", "discriminant_analysis", "kernel_ridge")
            parts = module.split(".")
            assert not (parts[0] == "sklearn" and len(parts) > 1 and parts[1] in forbidden), (
                f"line {node.lineno}: the algorithms are ours to write"
            )
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
            allowed = ("default_rng", "Generator", "RandomState", "SeedSequence", "BitGenerator")
            allowed += ("PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM")
            assert node.attr in allowed, f"global random state, line {node.lineno}"


def test_numba_is_named_in_one_place():
    """One decorator: the flags are written in core/runtime/jit.py only."""
    users = [p for p in SOURCES if "import numba" in p.read_text() or "from numba" in p.read_text()]
    names = {str(p.relative_to(ROOT / "src/pellucid")) for p in users}
    assert names <= {
        "core/runtime/jit.py",
        "core/runtime/signatures.py",
        "core/runtime/compiling/content.py",
        "core/runtime/compiling/files.py",
        "core/runtime/compiling/notices.py",
        "core/runtime/compiling/targets.py",
        "core/runtime/vectors/tiles.py",
        "core/runtime/vectors/single.py",
    }, names


def test_no_module_hides_a_public_name():
    """``import pellucid.linear.lars_path`` would put a module where the function is looked for."""
    for init in (ROOT / "src/pellucid").rglob("__init__.py"):
        package = ".".join(init.parent.relative_to(ROOT / "src").parts)
        names = set(getattr(importlib.import_module(package), "_HOME", {}))
        modules = {p.stem for p in init.parent.glob("*.py")} | {
            p.name for p in init.parent.iterdir() if (p / "__init__.py").exists()
        }
        assert not names & modules, f"{package}: {names & modules}"
