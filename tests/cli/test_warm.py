"""`pellucid warm`: every kernel compiled, a kernel that is left out named."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from pellucid.cli import cli
from pellucid.cli.installation.warm import compile_all, import_all, is_cached
from pellucid.cli.shared.options import Code, Stop
from pellucid.core.runtime import jit, signatures
from pellucid.core.runtime.compiling import files as kernel_files
from pellucid.core.runtime.compiling import targets

warm_module = import_module("pellucid.cli.installation.warm")


def test_second_run_compiles_nothing(pellucid):
    first = pellucid("warm")
    assert first.code == Code.DONE, first.err
    skipped = r"(skipped pellucid\.deep\.\S+: its extra is not installed\n)*"
    assert re.fullmatch(r"(\d+) of \1 kernels ready: \d+ compiled, .*s\n" + skipped, first.out)
    assert "pellucid.compiled" in first.err  # one line per module where there is no terminal
    again = pellucid("warm", "--json")
    assert (again.code, again.err) == (Code.DONE, "")
    assert again.json["ok"]
    assert again.json["missed"] == []
    assert again.json["kernels"] > 0
    assert again.json["compiled"] == 0


def test_quiet():
    done = CliRunner().invoke(cli, ["warm", "--quiet"])
    assert (done.exit_code, done.output) == (Code.DONE, "")


def test_every_module_is_found():
    modules, skipped = import_all()
    names = {module.__name__ for module in modules}
    assert {"pellucid.base", "pellucid.core.runtime.jit", "pellucid.data"} <= names
    assert not any(name.startswith("pellucid.cli") for name in names)
    assert all(name.startswith("pellucid.deep.") for name in skipped)
    assert bool(skipped) == (find_spec("torch") is None), (
        "skipped is what needs PyTorch, and only that"
    )


@pytest.fixture
def package(monkeypatch, tmp_path):
    """Put a package of the given files in the place of pellucid."""
    yield lambda **files: _replace(monkeypatch, tmp_path, files)
    for name in [name for name in sys.modules if name.split(".")[0] == "glass"]:
        del sys.modules[name]


def _replace(monkeypatch, tmp_path, files):
    folder = tmp_path / "glass"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    places = lambda: (*kernel_files.named_places(), tmp_path / "kernels")  # noqa: E731
    monkeypatch.setattr(kernel_files, "places", places)
    module = ModuleType("pellucid")
    module.__path__ = [str(folder)]
    monkeypatch.setattr(warm_module, "pellucid", module)
    real = warm_module.import_module
    monkeypatch.setattr(
        warm_module, "import_module", lambda name: real(name.replace("pellucid.", "glass."))
    )


KERNEL = "from pellucid.core.runtime.jit import jit\n@jit\ndef double(x):\n    return 2 * x\n"


@pytest.mark.parametrize(
    ("table", "missed"),
    [({}, ["glass.sums.double"]), ({"glass.sums": {"double": [["float64"]]}}, [])],
)
def test_a_forgotten_kernel_is_named(monkeypatch, package, table, missed):
    monkeypatch.setattr(jit, "KERNELS", [])
    monkeypatch.setattr(signatures, "recorded", lambda: table)
    package(sums=KERNEL)
    said = []
    result = compile_all(lambda *args: said.append(args))
    assert result.missed == missed
    assert result.kernels == 1
    kernel = jit.KERNELS[0]
    assert signatures.kernel_name(kernel) == ("glass.sums", "double")
    assert is_cached(kernel) == (not missed)
    assert said[-1][1:] == (1 - len(missed), 1)


def test_only_a_missing_extra_is_skipped(package):
    text = "raise ImportError('Torch is needed for this: pip install \"pellucid[deep]\"')"
    package(deep=text, other="")
    modules, skipped = import_all()
    assert skipped == ["pellucid.deep"]
    assert [module.__name__ for module in modules] == ["glass.other"]


def test_any_other_import_error_is_an_error(package):
    package(broken="import no_such_module")
    with pytest.raises(ImportError, match="no_such_module"):
        import_all()


def test_a_folder_gets_what_is_compiled_already(monkeypatch, package, tmp_path):
    """``--into`` copies what is on disk elsewhere; a file in the way is refused in a sentence."""
    monkeypatch.setattr(jit, "KERNELS", [])
    monkeypatch.setattr(signatures, "recorded", lambda: {"glass.sums": {"double": [["float64"]]}})
    monkeypatch.setattr(kernel_files, "COLLECT", [])
    monkeypatch.setenv("PELLUCID_KERNELS", str(tmp_path / "first"))
    package(sums=KERNEL)
    compile_all(lambda *args: None)
    (there,) = (tmp_path / "first").rglob("*.nbc")
    del sys.modules["glass.sums"]
    jit.KERNELS.clear()
    warm_module.collect_into(tmp_path / "second")
    result = compile_all(lambda *args: None)
    assert result.compiled == 0
    (here,) = (tmp_path / "second").rglob("*.nbc")
    assert (here.name, here.read_bytes()) == (there.name, there.read_bytes())
    (tmp_path / "file").write_text("")
    with pytest.raises(Stop, match="cannot write to"):
        warm_module.collect_into(tmp_path / "file")


def test_a_level_that_is_not_here_is_refused(monkeypatch):
    monkeypatch.setattr(targets, "host_features", dict)
    with pytest.raises(Stop, match="cannot make x86-64-v4, only native") as stopped:
        warm_module.check_target("x86-64-v4")
    assert stopped.value.code == Code.USAGE


def test_a_level_is_compiled_in_a_process_of_its_own(monkeypatch):
    if "x86-64-v3" not in targets.host_levels():
        pytest.skip("a processor without AVX2")
    ran = []

    def run(command, env):
        ran.append(env)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(warm_module.subprocess, "run", run)
    assert CliRunner().invoke(cli, ["warm", "--target", "x86-64-v3"]).exit_code == Code.DONE
    assert ran[0]["NUMBA_CPU_NAME"] == "x86-64-v3"
    assert "+avx2" in ran[0]["NUMBA_CPU_FEATURES"]
