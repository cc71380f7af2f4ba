"""``pellucid lab``: names, the file, exit codes. That it serves is tested with the server."""

import sys

import pytest

import pellucid
from pellucid.lab.pages import PAGES, SHOWN, named

UNSHOWN = next(name for name in pellucid._HOME if named(name) is None and name[0].isupper())


def test_list(inside):
    done = inside("lab", "--list")
    assert done.code == 0
    assert all(name in done.out and title in done.out for name, title in PAGES.items())
    found = inside("lab", "--list", "--json").json["pages"]
    assert [page["name"] for page in found] == list(PAGES)
    assert inside("lab", "--list", "--quiet").out == ""


def test_names_of_pages_and_estimators():
    from pellucid import deep, solvers

    assert named("KMEANS") == named("clusters") == "kmeans"
    assert set(SHOWN) <= set(PAGES)
    names = [name for shown in SHOWN.values() for name in shown]
    assert len(names) == len(set(names))
    known = {*pellucid._HOME, *dir(solvers), *deep.__all__}
    assert sorted(set(names) - known) == []


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["kmean"], 2, "the nearest are: kmeans"),
        (["LogisticRegresion"], 2, "LogisticRegression"),
        (["zzzz"], 2, "there are: linear_regression"),
        ([UNSHOWN], 2, "pellucid.lab.record"),
        (["--export", "x.html"], 2, "the gallery is written into a folder"),
        (["descent", "--export", "."], 6, "exists already"),
        (["descent", "--export", ".", "--overwrite"], 2, "a page is written as one file"),
        (["descent", "--export", "no/x.html"], 2, "the folder no does not exist"),
        (["descent", "--export", "x.html", "--data", "t.csv"], 2, "--data is for the server"),
        (["descent", "--no-browser", "--data", "no.csv"], 3, "no.csv"),
        (["descent", "--port", "70000"], 2, "70000"),
        (["descent", "--sql", "SELECT 1"], 2, "--sql needs --data"),
        (["descent", "--seed", "-1"], 2, "-1 is not in the range x>=0"),
        (["descent", "--seed", str(2**32)], 2, "--seed must be from 0 to 4294967295"),
    ],
)
def test_errors_are_one_sentence(inside, monkeypatch, args, code, words):
    monkeypatch.setattr("pellucid.lab.serve", None)  # what is not refused must not serve for ever
    done = inside("lab", *args)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_export(inside, tmp_path):
    done = inside("lab", "SGDRegressor", "--export", "k.html", "--json")
    assert done.code == 0
    path = tmp_path / "k.html"
    assert done.json == {
        "page": "stochastic_descent",
        "file": "k.html",
        "bytes": path.stat().st_size,
    }
    assert path.read_text("utf-8").startswith("<!doctype html>")
    old = path.read_bytes()
    assert inside("lab", "SGDRegressor", "--export", "k.html").code == 6
    again = inside("lab", "SGDRegressor", "--export", "k.html", "--overwrite", "--quiet")
    assert (again.code, again.out) == (0, "")
    assert path.read_bytes() == old


def test_without_the_extra(inside, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = inside("lab", "descent", "--no-browser")
    assert done.code == 2
    assert done.err == (
        'pellucid: the lab needs Starlette and uvicorn: pip install "pellucid[lab]"\n'
    )


def test_the_browser_is_opened_unless_told_not_to(inside, monkeypatch):
    import webbrowser

    from pellucid.lab import serving

    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)

    class Server:
        def run(self, sockets):
            raise KeyboardInterrupt

    class Listening:
        def close(self):
            opened.append("closed")

    running = serving.Running("secret", 1234, Server(), Listening())
    monkeypatch.setattr(serving, "prepared", lambda *given: running)
    done = inside("lab", "laplace#preset=x&step=2")
    assert done.code == 0
    address = "http://127.0.0.1:1234/laplace#token=secret&preset=x&step=2"
    assert address in done.out
    assert opened == [address, "closed"]
    assert (
        inside("lab", "laplace.html#preset=x&step=2", "--no-browser", "--quiet").out
        == f"{address}\n"
    )
    assert opened == [address, "closed", "closed"]
