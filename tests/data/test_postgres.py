"""A real PostgreSQL server on loopback, started for this test and stopped after it."""

import datetime as dt
import glob
import os
import shutil
import socket
import subprocess
import tempfile

import polars as pl
import pytest

from pellucid.data import blocks, load

BIN = next(
    iter(
        sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)
        + sorted(glob.glob("/usr/local/opt/postgresql*/bin/initdb"), reverse=True)
    ),
    shutil.which("initdb"),
)
psycopg = pytest.importorskip("psycopg", reason="the driver psycopg is not installed")
pytestmark = pytest.mark.skipif(BIN is None, reason="no PostgreSQL server (initdb) is installed")


def as_server(command):
    """PostgreSQL refuses to run as root, so root steps down to the user postgres."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]


def run(*command):
    done = subprocess.run(
        as_server(list(command)), capture_output=True, text=True, check=False, timeout=60, cwd="/"
    )
    assert done.returncode == 0, done.stderr or done.stdout


@pytest.fixture(scope="module")
def server():
    """The URL of a fresh server."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root and setpriv is not installed")
    folder = tempfile.mkdtemp(prefix="pg")  # a short path: the socket's name is limited
    bin_folder = os.path.dirname(str(BIN))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        data = os.path.join(folder, "data")
        run(f"{bin_folder}/initdb", "-D", data, "-U", "tester", "--auth=trust", "--no-sync")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
        log = os.path.join(folder, "log")
        run(f"{bin_folder}/pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start")
        try:
            yield f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres"
        finally:
            run(f"{bin_folder}/pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def connection(server):
    with psycopg.connect(server.replace("+psycopg", "")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i, i * 0.5::float8 AS half, (i / 4.0)::numeric(12, 2) AS n, "
            "CASE WHEN i % 3 = 0 THEN NULL ELSE 'w' || i END AS word, "
            "DATE '2024-01-01' + i % 7 AS day, i % 2 = 0 AS even "
            "FROM generate_series(0, 149999) AS i"
        )
        connection.commit()
        yield connection


SQL = "SELECT * FROM t ORDER BY i"


def test_load(server, connection):
    for source in (server, connection):
        table = load(source, sql=SQL)
        assert table.dtypes == [
            pl.Int64, pl.Float64, pl.Float64, pl.String, pl.Date, pl.Boolean,
        ]  # fmt: skip
        assert table["i"].to_list() == list(range(150_000))
        assert table.row(5) == (5, 2.5, 1.25, "w5", dt.date(2024, 1, 6), False)
        assert table["word"].null_count() == 50_000
        assert load(source, sql=SQL, n_rows=10).height == 10
        like = "SELECT i FROM t WHERE word LIKE 'w1499%9' ORDER BY i"
        assert load(source, sql=like)["i"].to_list()[-1] == 149_999


def test_blocks(server, connection):
    for source in (server, connection):
        data = blocks(source, sql=SQL, target="half", columns=["i", "n"], block_rows=20_000)
        assert data.n_rows == 150_000
        assert len(list(data)) == 8
        leaves = [leaf for span in data.spans() for leaf in span.leaves()]
        assert pl.concat([leaf.X for leaf in leaves])["i"].to_list() == list(range(150_000))


def test_a_fit_from_the_database(server, connection):
    from pellucid import Ridge

    data = blocks(server, sql=SQL, target="half", columns=["i"])
    model = Ridge(alpha=1e-9).fit_blocks(data)
    assert model.coef_[0] == pytest.approx(0.5, rel=1e-9)


def test_errors(server, connection):
    for source in (server, connection):
        with pytest.raises(ValueError, match=r'refused the query: .*relation "q" does not exist'):
            load(source, sql="SELECT * FROM q")
        if source is connection:
            connection.rollback()
    with pytest.raises(ValueError, match="refused the query"):
        load("postgresql+psycopg://tester@127.0.0.1:1/postgres", sql="SELECT 1")
