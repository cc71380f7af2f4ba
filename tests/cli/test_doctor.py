"""`pellucid doctor`: a record of the installation, golden numbers, exit code 1 on a problem."""

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from click.testing import CliRunner

from pellucid.cli import cli
from pellucid.cli.shared.options import Code
from pellucid.study.examples.golden import Case, run_case

doctor = import_module("pellucid.cli.installation.doctor")


def test_record(pellucid):
    done = pellucid("doctor", "--json", "--threads", "1")
    assert done.code == Code.DONE, done.out
    record = done.json
    assert record["ok"]
    assert record["problems"] == []
    assert record["packages"]["numpy"] == np.__version__
    assert record["threads"]["pellucid"] == 1
    assert all(lib["num_threads"] == 1 for lib in record["blas"])
    assert record["numba"]["compiled"]
    assert record["numba"]["written"]
    assert record["numba"]["target"] in record["numba"]["folders"][0]
    assert record["numba"]["kernels"] >= record["numba"]["cached"]
    assert record["extras"]["deep"]["install"] == 'pip install "pellucid[deep]"'
    assert record["memory_gb"]["total"] > 0
    assert "checks" not in record


def test_self_test(pellucid):
    done = pellucid("doctor", "--self-test", "--json")
    record = done.json
    assert [check for check in record["checks"] if not check["ok"]] == []
    assert done.code == Code.DONE
    names = " ".join(check["name"] for check in record["checks"])
    assert all(word in names for word in ("norris", "longley", "wampler3", "k-means", "Bayes"))


def test_text_fits_and_says_so():
    done = CliRunner().invoke(cli, ["doctor", "--self-test"])
    assert done.exit_code == Code.DONE, done.output
    assert max(map(len, done.output.splitlines())) <= 100
    assert "No problem found." in done.output
    assert "FAILED" not in done.output
    quiet = CliRunner().invoke(cli, ["doctor", "--quiet"])
    assert (quiet.exit_code, quiet.output) == (Code.DONE, "")


def test_a_bad_setting_is_a_problem(monkeypatch):
    monkeypatch.setenv("PELLUCID_NUM_THREADS", "many")
    done = CliRunner().invoke(cli, ["doctor"])
    assert done.exit_code == Code.FAILED_CHECK
    assert "PELLUCID_NUM_THREADS must be a whole number" in " ".join(done.output.split())
    quiet = CliRunner().invoke(cli, ["doctor", "--quiet"])
    assert quiet.exit_code == Code.FAILED_CHECK
    assert "many" in quiet.stderr


@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda: (1.0, 2.1), "FAILED"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: (np.nan, 2), ""),
    ],
)
def test_a_wrong_number_is_a_problem(monkeypatch, compute, words):
    item = Case("wrong", "by hand", (1.0, 2.0), 1e-3, compute)
    monkeypatch.setattr(doctor, "cases", lambda: [item])
    done = CliRunner().invoke(cli, ["doctor", "--self-test"])
    assert done.exit_code == Code.FAILED_CHECK
    assert words in done.output
    assert "self-test failed: wrong" in done.output


def test_tolerance_is_relative_and_absolute_at_zero():
    near = Case("near", "", (0.0, 1e6), 1e-3, lambda: (1e-4, 1e6 + 1))
    check = run_case(near)
    assert check.ok
    assert check.error == pytest.approx(1e-4)


def test_packages_and_extras(monkeypatch):
    lines = ["numpy>=2.0", 'torch>=2.5; extra == "deep"', 'pellucid[dask]; extra == "test"']
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: lines)
    versions = {"numpy": "1.9.0", "pellucid": "0.1.0"}
    monkeypatch.setattr(doctor, "installed", versions.get)
    found = doctor.packages()
    assert found == [
        doctor.Package("numpy", "", "2.0", "1.9.0"),
        doctor.Package("torch", "deep", "2.5", None),
    ]
    assert not found[0].ok
    assert doctor.extras(found)["deep"]["missing"] == ["torch"]
    assert "numpy >= 2.0 is needed, 1.9.0 is installed" in doctor.examine(False)["problems"]


def test_no_folder_that_can_be_written_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor, "writable", lambda folder: False)
    assert doctor.examine(False)["problems"] == []  # all the kernels are there
    monkeypatch.setattr("pellucid.core.runtime.compiling.files.kept", set)
    (problem,) = doctor.examine(False)["problems"]
    assert "PELLUCID_KERNELS" in problem


def test_the_kernels_and_their_folder_are_named():
    said = " ".join(CliRunner().invoke(cli, ["doctor"]).output.split())
    assert "kernels cached for" in said
    assert "written to" in said
    plain = subprocess.run(
        [sys.executable, "-c", "from pellucid.cli import main; main()", "doctor"],
        env={**os.environ, "PELLUCID_NO_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert plain.returncode == Code.DONE, plain.stdout
    assert "PELLUCID_NO_JIT is set" in plain.stdout
