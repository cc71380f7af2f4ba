"""``pellucid doctor``: what is installed, how it is set up, and whether it gives right answers.

Everything is first gathered into one record, then printed as text or as JSON.
"""

import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import click

from pellucid import __version__
from pellucid.cli.installation.warm import import_all
from pellucid.cli.shared.options import Code, common, console, grid, print_json, say
from pellucid.study.examples.golden import BROKEN, cases, run_case


class Package(NamedTuple):
    """One requirement of the distribution and what is installed for it."""

    name: str
    extra: str  # "" for what is always needed
    minimum: str
    version: str | None

    @property
    def ok(self) -> bool:
        return self.version is not None and numbers(self.version) >= numbers(self.minimum)


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version.

    >>> numbers("2.10.1rc1") > numbers("2.9")
    True
    """
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def packages() -> list[Package]:
    """The requirements in the installed metadata, with the versions that are here."""
    found = []
    for line in metadata.requires("pellucid") or ():
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        name, minimum = re.match(r"([\w.-]+)[^>;]*(?:>=([\d.]+))?", line).groups()  # type: ignore[union-attr]
        if name != "pellucid":
            label = extra.group(1) if extra else ""
            found.append(Package(name, label, minimum or "0", installed(name)))
    return found


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def extras(found: list[Package]) -> dict[str, dict[str, Any]]:
    """For each optional extra: is it whole, what is missing, and the line that installs it."""
    result: dict[str, dict[str, Any]] = {}
    for package in found:
        if package.extra:
            entry = result.setdefault(package.extra, {"present": True, "missing": []})
            if not package.ok:
                entry["present"] = False
                entry["missing"].append(package.name)
    for name, entry in result.items():
        entry["install"] = f'pip install "pellucid[{name}]"'
    return result


def blas() -> list[dict[str, Any]]:
    """The numerical libraries that NumPy and SciPy loaded, and their threads."""
    import numpy.linalg  # noqa: F401  both BLAS libraries must be loaded to be found
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    keys = ("internal_api", "version", "num_threads", "architecture", "user_api")
    return [{key: library.get(key) for key in keys} for library in threadpool_info()]


def numba_state() -> dict[str, Any]:
    """The compiler, and where its kernels are kept: the folders that are read, the one written."""
    from pellucid.core.runtime.jit import KERNELS, why_plain

    if why_plain():
        return {"version": installed("numba"), "compiled": False, "reason": why_plain()}
    _, skipped = import_all()
    from pellucid.core.runtime.compiling import files, targets

    here = files.kept()
    return {
        "version": installed("numba"),
        "compiled": True,
        "target": targets.target(),
        "folders": [str(folder) for folder in files.folders() if folder.is_dir()],
        "written": next((str(place) for place in files.places() if writable(place)), None),
        "kernels": len(KERNELS),
        "cached": sum(not here.isdisjoint(files.prefixes(kernel)) for kernel in KERNELS),
        "skipped": skipped,
    }


def writable(folder: Path) -> bool:
    """Whether a file can be made in ``folder``, or in its parent while it does not exist."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def memory() -> dict[str, float | None]:
    """Installed and free memory in GB; None where the system does not say."""
    names = {"total": "SC_PHYS_PAGES", "free": "SC_AVPHYS_PAGES"}
    known = getattr(os, "sysconf_names", {})
    return {
        key: os.sysconf(name) * os.sysconf("SC_PAGE_SIZE") / 1e9 if name in known else None
        for key, name in names.items()
    }


def examine(self_test: bool) -> dict[str, Any]:
    """Everything the doctor looks at, as one record."""
    problems = []
    found: list[Package] = []
    if installed("pellucid") is None:
        problems.append("pellucid is not installed as a package: pip install pellucid")
    else:
        found = packages()
    for package in found:
        if not package.extra and not package.ok:
            have = package.version or "nothing"
            problems.append(f"{package.name} >= {package.minimum} is needed, {have} is installed")
    record: dict[str, Any] = {
        "pellucid": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {p.name: p.version for p in found if not p.extra},
        "extras": extras(found),
        "memory_gb": memory(),
    }
    for key, look in (("threads", threads), ("blas", blas), ("numba", numba_state)):
        try:
            record[key] = look()
        except BROKEN as stopped:
            record[key] = None
            problems.append(f"{key}: {type(stopped).__name__}: {stopped}")
    state = record["numba"]
    if state and state["compiled"] and not state["written"] and state["cached"] < state["kernels"]:
        problems.append(
            "no folder for compiled kernels can be written, so every start compiles again: "
            "set PELLUCID_KERNELS to a folder that can"
        )
    if self_test:
        checks = [run_case(case) for case in cases()]
        record["checks"] = [check._asdict() for check in checks]
        problems += [f"self-test failed: {check.name}" for check in checks if not check.ok]
    return {**record, "problems": problems, "ok": not problems}


def threads() -> dict[str, int]:
    from pellucid.core.runtime.threads import thread_count

    return {"pellucid": thread_count(), "cores": os.cpu_count() or 1}


def render(record: dict[str, Any]) -> None:
    """Print the record for reading."""
    screen = console()
    screen.print(grid(("", ""), facts(record)), "")
    rows = [
        (
            name,
            "installed" if entry["present"] else "not installed",
            "" if entry["present"] else entry["install"],
        )
        for name, entry in record["extras"].items()
    ]
    if rows:
        screen.print(grid(("extra", "", "to install"), rows), "")
    if "checks" in record:
        checks = [
            (
                "ok" if check["ok"] else "FAILED",
                check["name"],
                "-" if check["error"] is None else f"{check['error']:.1e}",
                f"{check['tolerance']:.0e}",
                check["message"] or check["source"],
            )
            for check in record["checks"]
        ]
        columns = ("", "self-test", "error", "allowed", "golden numbers")
        screen.print(grid(columns, checks, right=(2, 3)), "")
    for problem in record["problems"]:
        screen.print(f"Problem: {problem}")
    if record["ok"]:
        tested = "" if "checks" in record else " (`pellucid doctor --self-test` checks the numbers)"
        screen.print(f"No problem found{tested}.")


def facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The first table: one line per fact."""
    rows = [
        ("pellucid", record["pellucid"]),
        ("Python", f"{record['python']} on {record['platform']}"),
        (
            "packages",
            ", ".join(f"{name} {v or 'missing'}" for name, v in record["packages"].items()),
        ),
    ]
    if record["threads"]:
        rows.append(("threads", "{pellucid} of {cores} cores".format(**record["threads"])))
    for library in record["blas"] or ():
        kind = "BLAS" if library["user_api"] == "blas" else library["user_api"]
        named = f"{library['internal_api']} {library['version'] or ''}".strip()
        rows.append((kind, f"{named}, {library['num_threads']} threads"))
    state = record["numba"]
    if state and not state["compiled"]:
        rows.append(("Numba", f"not in use: {state['reason']}; kernels run as plain Python"))
    elif state:
        count = f"{state['cached']} of {state['kernels']} kernels cached for {state['target']}"
        rows.append(("Numba", f"{state['version']}, {count}"))
        rows += [("kernels", folder) for folder in state["folders"]]
        rows.append(("written to", state["written"] or "memory only"))
    gb = record["memory_gb"]
    if gb["total"]:
        free = f", {gb['free']:.1f} GB free" if gb["free"] else ""
        rows.append(("memory", f"{gb['total']:.1f} GB{free}"))
    return rows


@click.command()
@click.option("--self-test", is_flag=True, help="Fit the golden data and compare the numbers.")
@common("json", "quiet", "threads")
@click.pass_context
def doctor(ctx: click.Context, self_test: bool, as_json: bool, quiet: bool) -> None:
    """Say what is installed and whether it works; exit code 1 on a problem."""
    record = examine(self_test)
    if as_json:
        print_json(record)
    elif not quiet:
        render(record)
    else:
        for problem in record["problems"]:
            say(f"pellucid: {problem}", err=True)
    if not record["ok"]:
        ctx.exit(Code.FAILED_CHECK)
