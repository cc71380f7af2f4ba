"""write_csv: no formulas, the old file or the new one; load_idx: the numbers or a refusal."""

import contextlib
import gzip
import io
import os
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pellucid.data import load, load_idx, write_csv


def test_formulas_are_defused(tmp_path):
    cells = ["=1+1", "+cmd", "-x", "@SUM(A1)", "fine", None, "-5", "a=b", "=a,b"]
    frame = pl.DataFrame({"=name": cells, "n": [-1, 2, 3, 4, 5, 6, 7, 8, -9], "f": [-0.5] * 9})
    path = tmp_path / "t.csv"
    write_csv(frame, path)
    lines = path.read_text().splitlines()
    assert lines[0] == "'=name,n,f"
    assert lines[1] == "'=1+1,-1,-0.5"
    assert [line.split(",")[0] for line in lines[2:9]] == [
        "'+cmd", "'-x", "'@SUM(A1)", "fine", "", "-5", "a=b",
    ]  # fmt: skip
    assert lines[9] == '"\'=a,b",-9,-0.5'


def test_round_trip(tmp_path):
    frame = pl.DataFrame(
        {
            "f": [0.1, 1e-300, None],
            "i": [1, -(2**62), None],
            "t": ['q"q', "two\nlines", None],
            "b": [True, False, None],
        }
    ).with_columns(
        d=pl.Series(["2024-01-05", None, "1999-12-31"]).str.to_date(),
        m=pl.Series(["2024-01-05T01:02:03", None, "1999-12-31T23:59:59.5"]).str.to_datetime(
            "%Y-%m-%dT%H:%M:%S%.f", time_unit="us"
        ),
    )
    path = tmp_path / "t.csv"
    write_csv(frame, path)
    assert_frame_equal(load(path), frame, check_exact=True)
    write_csv(pl.DataFrame({"only": [1.5, None]}), path)  # a blank line would be no row
    assert load(path)["only"].to_list() == [1.5, None]


def test_any_frame_and_any_file(tmp_path):
    write_csv(pd.DataFrame({"a": [1]}), tmp_path / "p.csv")
    assert load(tmp_path / "p.csv").rows() == [(1,)]
    for stream in (io.StringIO(), io.BytesIO()):
        write_csv({"a": [1]}, stream)
        value = stream.getvalue()
        assert (value if isinstance(value, str) else value.decode()) == "a\n1\n"
    with open(tmp_path / "b.csv", "wb") as file:
        write_csv({"a": [1]}, file)
    assert (tmp_path / "b.csv").read_text() == "a\n1\n"


def test_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    write_csv({"a": [1]}, path)
    path.chmod(0o640)

    def fail(*args):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_csv({"a": [2]}, path)
    assert path.read_text() == "a\n1\n"
    assert os.listdir(tmp_path) == ["t.csv"]
    write_csv({"a": [3]}, path)
    assert path.read_text() == "a\n3\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_bad_targets(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write_csv({"a": [1]}, tmp_path / "no" / "t.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_csv({"a": [1]}, tmp_path)
    with pytest.raises(ValueError, match="column 'a' is List"):
        write_csv(pl.DataFrame({"a": [[1]]}), tmp_path / "t.csv")


# ---------------------------------------------------------------- IDX


def idx_bytes(array):
    codes = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    head += b"".join(size.to_bytes(4, "big") for size in array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("packed", [False, True])
def test_idx(tmp_path, dtype, packed):
    images = np.random.default_rng(0).integers(0, 100, size=(3, 28, 28)).astype(dtype)
    path = tmp_path / "images"
    data = idx_bytes(images)
    path.write_bytes(gzip.compress(data) if packed else data)
    X = load_idx(path)
    assert X.shape == (3, 784)
    assert X.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(X, images.reshape(3, 784))
    path.write_bytes(idx_bytes(np.arange(5, dtype="u1")))
    assert load_idx(str(path)).tolist() == [0, 1, 2, 3, 4]
    path.write_bytes(idx_bytes(np.zeros((0, 2, 3), dtype="u1")))
    assert load_idx(path).shape == (0, 6)


@given(data=st.binary(max_size=40))
def test_idx_refuses_garbage(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("idx") / "g"
    path.write_bytes(data)
    with contextlib.suppress(ValueError):
        array = load_idx(path)
        assert array.size * array.itemsize <= 40


def test_idx_messages(tmp_path):
    good = idx_bytes(np.zeros((2, 3), dtype="u1"))
    path = tmp_path / "g"
    for data, message in [
        (b"", "is not an IDX file: it begins with nothing"),
        (b"PNG.....", "is not an IDX file"),
        (good[:6], "is cut off"),
        (good[:-1], "does not fit its header: 2 x 3 numbers need 6 bytes, got 5"),
        (good + b"x", "does not fit its header"),
        (gzip.compress(good)[:-4], "is a broken gzip file"),
    ]:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=message):
            load_idx(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_idx(tmp_path / "none")
