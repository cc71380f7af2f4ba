"""Compiled kernels are found wherever they were written, and none that has changed since."""

import json
import logging
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pellucid.cli.installation.warm import import_all
from pellucid.core.runtime.compiling import content, files, targets
from pellucid.core.runtime.jit import KERNELS
from pellucid.core.runtime.splitmix import splitmix64

FITS = Path(__file__).with_name("small_fits.py")
SOME = ("GaussianNB", "KMeans", "Ridge", "DecisionTreeClassifier", "KNeighborsClassifier")
SCRIPT = """
import json, os, sys
from pathlib import Path
import numpy as np
import llvmlite.binding as llvm
llvm.get_host_cpu_name = lambda: os.environ.get("PRETENDED", "anything")
features = llvm.get_host_cpu_features()
for name in filter(None, os.environ.get("WITHOUT", "").split(",")):
    features[name] = False
llvm.get_host_cpu_features = lambda: features
from pellucid.core.runtime.compiling import files
files.places = lambda: (Path(sys.argv[1]),)
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.simd import LANES, add_tile_1
from pellucid.core.runtime.compiling.notices import NOTICE

@jit
def tiled(L, R, out):
    add_tile_1(L, R, len(L), 0, 0, out)
    return out[0, 0]

L = np.arange(30.0 * LANES).reshape(30, LANES)
found = tiled(L, L, np.zeros((LANES, LANES)))
print(json.dumps([NOTICE.count, found, LANES, str(tiled._cache.came_from)]))
"""


def run(script, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "first" / "tiled.py"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return path


def test_every_kernel_is_described_wholly(monkeypatch):
    """No value that a kernel reads is of a kind that the hash would pass over."""
    import_all()
    passed_over = set()
    described = content.described

    def seen(value, called):
        text = described(value, called)
        if text.startswith("?"):
            passed_over.add(text)
        return text

    monkeypatch.setattr(content, "described", seen)
    monkeypatch.setattr(content, "_own", {})
    found = [content.content(kernel.py_func) for kernel in KERNELS]
    assert passed_over == set()
    ours = [c for c, k in zip(found, KERNELS, strict=True) if k.py_func.__module__ != "__main__"]
    assert len(set(ours)) == len(ours)


def test_a_kernel_changes_with_what_it_calls_in_another_file(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    head = "from pellucid.core.runtime.jit import jit\n"
    outer = (
        f"{head}from inner_part import twice\nSCALE = 3\n"
        "@jit\ndef outer(x):\n    return SCALE * twice(x)\n"
    )

    def prefix(inner, outer=outer):
        for name in ("inner_part", "outer_part"):
            sys.modules.pop(name, None)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        (tmp_path / "inner_part.py").write_text(f"{head}@jit\ndef twice(x):\n    return {inner}\n")
        (tmp_path / "outer_part.py").write_text(outer)
        before = len(KERNELS)
        found = import_module("outer_part").outer._cache.prefix
        del KERNELS[before:]
        return found

    first = prefix("2 * x")
    assert prefix("2 * x") == first
    assert prefix("x * 2") != first
    assert prefix("2 * x", f"# a comment\n\n{outer}") == first  # nor where it stands in its file
    assert prefix("2 * x", outer.replace("SCALE = 3", "SCALE = 4")) != first


def test_files_serve_in_another_folder_from_another_place(script, tmp_path):
    compiled, value, *_ = run(script, tmp_path / "here")
    assert compiled == 1
    moved = tmp_path / "second" / "elsewhere.py"
    moved.parent.mkdir()
    shutil.copy(script, moved)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    shutil.rmtree(tmp_path / "here")
    again, same, _, came_from = run(moved, tmp_path / "there")
    assert (again, same) == (0, value)
    assert came_from.startswith(str(tmp_path / "there"))


@pytest.mark.skipif("x86-64-v3" not in targets.host_levels(), reason="a processor without AVX2")
def test_a_level_serves_every_processor_that_has_it(script, tmp_path):
    place = tmp_path / "kernels"
    compiled, value, lanes, _ = run(script, place, **targets.settings("x86-64-v3"))
    assert (compiled, lanes) == (1, 4)
    for without in ("", "avx512f,avx512vl,avx512bw,avx512cd,avx512dq", "rdseed,adx"):
        other = run(script, place, PRETENDED="another model", WITHOUT=without)
        assert other[:3] == [0, value, 4]
        assert other[3].endswith("x86-64-v3")
    too_old = run(script, place, WITHOUT="avx2,avx512f,fma")
    assert too_old[0] == 1  # compiled anew: those kernels would not run here


def test_a_damaged_file_is_compiled_again(script, tmp_path):
    run(script, tmp_path / "k")
    (path,) = (tmp_path / "k").rglob("*.nbc")
    path.write_bytes(path.read_bytes()[:-7])
    assert run(script, tmp_path / "k")[0] == 1
    assert run(script, tmp_path / "k")[0] == 0
    assert not list((tmp_path / "k").rglob("*.part"))


def test_no_place_to_write_is_said_once(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(files, "places", lambda: (tmp_path / "file",))
    monkeypatch.setattr(files, "_refused", set())
    with caplog.at_level(logging.WARNING, "pellucid"):
        files.write("a.nbc", b"x")
        files.write("b.nbc", b"x")
    (record,) = caplog.records
    assert "PELLUCID_KERNELS" in record.getMessage()


def test_the_places_and_who_may_write_them(monkeypatch, tmp_path):
    monkeypatch.setenv("PELLUCID_KERNELS", f"{tmp_path}{os.pathsep}{tmp_path / 'second'}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = files.places()
    assert found[:3] == (tmp_path, tmp_path / "second", files.package_place())
    if sys.platform.startswith("linux"):
        assert found[3] == tmp_path / "cache" / "pellucid" / "kernels"
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "open"))
        assert len(files.places()) == 3  # anybody could put code there


def test_files_of_changed_kernels_are_swept(tmp_path):
    """And nothing else: a kernel that is not asked about may belong to somebody."""
    now = f"{splitmix64._cache.prefix}-0123.nbc"
    before = f"{splitmix64._cache.prefix.rpartition('-')[0]}-4567-0123.nbc"
    for name in (now, before, "another-1-2.nbc", ".new.part", ".old.part"):
        (tmp_path / name).write_bytes(b"")
    os.utime(tmp_path / ".old.part", (0, 0))
    assert files.sweep(tmp_path, [splitmix64]) == 2
    assert {p.name for p in tmp_path.iterdir()} == {now, "another-1-2.nbc", ".new.part"}


@pytest.mark.parametrize(
    "chosen", [SOME, pytest.param((), marks=pytest.mark.slow, id="every class")]
)
def test_nothing_is_compiled_where_nothing_can_be_written(chosen, tmp_path):
    """Load and predict with package, home and cache read-only, by a user who is not above that."""
    models, package = tmp_path / "models", tmp_path / "site" / "pellucid"
    models.mkdir()
    before = run(FITS, "fit", models, *chosen)
    kernels = Path(next(files.folders()))
    leave = shutil.ignore_patterns("__pycache__", files.FOLDER, "textbook")
    shutil.copytree(files.package_place().parent, package, ignore=leave)
    inside = package / files.FOLDER / kernels.parent.name / kernels.name
    shutil.copytree(kernels, inside)
    places = [tmp_path, *tmp_path.rglob("*")]
    for path in places:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        command = [sys.executable, str(FITS), "answer", str(models)]
        if os.geteuid() == 0:  # root writes anywhere unless it gives that up
            if shutil.which("setpriv") is None:
                pytest.skip("setpriv is needed to test as root")
            command = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *command]
        environment = {k: v for k, v in os.environ.items() if k != files.VARIABLE}
        environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "none")}
        environment["PYTHONPATH"] = str(package.parent)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    finally:
        for path in places:
            path.chmod(path.stat().st_mode | 0o700)
    assert done.returncode == 0, done.stderr
    after = json.loads(done.stdout.splitlines()[-1])
    assert after["compilations"] == 0
    assert len(after["answers"]) >= len(chosen or range(100))
    assert after["answers"] == {name: before["answers"][name] for name in after["answers"]}
