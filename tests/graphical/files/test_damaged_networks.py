"""Networks that are packed badly or ask for too much: a ValueError with a sentence."""

import gzip

import pytest
from damaged_inputs import good

from pellucid.data import spool
from pellucid.graphical import read_network


def test_a_packed_network_that_ends_early(tmp_path):
    path = tmp_path / "n.bif.gz"
    path.write_bytes(good("bif.gz")[:200])
    with pytest.raises(ValueError, match="broken gzip file"):
        read_network(path)
    path.write_bytes(gzip.compress(b"\xff\xfe"))
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_network(path)


def test_a_packed_network_that_grows_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "SMALL_BYTES", 1 << 20)
    path = tmp_path / "n.bif.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(ValueError, match="unpacks to more than 300 times"):
        read_network(path)


def test_a_table_larger_than_any_network_has(tmp_path):
    """Forty parents with a default row ask for a terabyte."""
    names = [f"x{i}" for i in range(40)]
    text = "".join(f"variable {n} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for n in names)
    text += "".join(f"probability ( {n} ) {{ table 0.5, 0.5; }}\n" for n in names[1:])
    text += f"probability ( x0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}\n"
    path = tmp_path / "n.bif"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"needs .* numbers, at most"):
        read_network(path)


@pytest.mark.parametrize(
    "title", ["", "()", "( | x )", "(", ")", "( , )", '( x"a" )', '( x | x"a" )']
)
def test_a_table_of_no_variable(title, tmp_path):
    text = "variable x { type discrete [ 2 ] { a, b }; }\n"
    path = tmp_path / "n.bif"
    path.write_text(f"{text}probability {title} {{ table 0.5, 0.5; }}")
    with pytest.raises(ValueError, match="line 2: "):
        read_network(path)
