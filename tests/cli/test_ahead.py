"""Kernels compiled beside a first study."""

import subprocess

from pellucid.cli.shared import ahead
from pellucid.core.runtime.signatures import compile_modules

AUC = "pellucid.evaluation.metrics.auc_kernels"


def test_cold_caches_get_a_process_that_ends_with_the_work(monkeypatch):
    begun = []
    start = subprocess.Popen

    def popen(*args, **options):
        begun.append(start(*args, **options))
        return begun[-1]

    monkeypatch.setattr(ahead.subprocess, "Popen", popen)
    monkeypatch.setattr(ahead, "is_cold", lambda modules: True)
    monkeypatch.setattr(ahead, "workers", lambda: 1)
    with ahead.compiling_ahead((AUC,)):
        (process,) = begun
        assert process.wait(120) == 0  # what it runs, runs
    with ahead.compiling_ahead():
        pass
    assert begun[1].returncode is not None  # killed, not left behind


def test_nothing_is_begun_where_kernels_are_there(monkeypatch):
    compile_modules((AUC,))
    monkeypatch.setattr(ahead.subprocess, "Popen", None)
    assert not ahead.is_cold((AUC,))
    with ahead.compiling_ahead((AUC,)):
        pass
