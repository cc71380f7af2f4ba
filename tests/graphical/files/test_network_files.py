"""Reading and writing networks."""

import gzip

import numpy as np
import pytest

from pellucid.data import load_network
from pellucid.graphical import CPT, BayesianNetwork, LinearGaussianCPD, read_network, write_network

ALL = ["alarm", "asia", "cancer", "child", "earthquake", "insurance", "sachs", "survey"]


@pytest.mark.parametrize("suffix", ["bif", "bif.gz", "xmlbif", "net", "net.gz"])
@pytest.mark.parametrize("name", ALL)
def test_every_network_comes_back_bit_equal(name, suffix, tmp_path):
    network = read_network(load_network(name))
    write_network(network, tmp_path / f"copy.{suffix}")
    again = read_network(tmp_path / f"copy.{suffix}")
    assert again.dag_ == network.dag_
    assert again.states_ == network.states_
    assert again.cpds_ == network.cpds_


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "net"])
def test_awkward_names_and_numbers(suffix, tmp_path):
    """Slashes, spaces, digits, signs, commas and brackets; numbers with all their digits."""
    rng = np.random.default_rng(0)
    states = ["<5", "5-12", "12+", "Asy/Patch", "a b", "x, y", "{z}", "(1)", ">=0.5", "&amp;"]
    network = BayesianNetwork(
        cpds=[
            CPT("a.b/c", rng.dirichlet(np.ones(10)), states=states),
            CPT("two words", rng.dirichlet(np.ones(3), 10), parents=["a.b/c"], states="123"),
            CPT("9", rng.dirichlet(np.ones(2), (3, 10)), parents=["two words", "a.b/c"],
                states=["yes", "no"]),
        ]
    )  # fmt: skip
    write_network(network, tmp_path / f"n.{suffix}")
    again = read_network(tmp_path / f"n.{suffix}")
    assert again.states_ == network.states_
    assert again.cpds_ == network.cpds_


def test_rows_off_by_rounding_are_scaled(tmp_path):
    path = tmp_path / "n.bif"
    text = "variable x {{ type discrete [ 2 ] {{ a, b }}; }}\nprobability ( x ) {{ table {}; }}\n"
    path.write_text(text.format("0.33333, 0.66666"))
    network = read_network(path)
    assert network.cpds_["x"].values.sum() == pytest.approx(1.0, abs=1e-15)
    write_network(network, path)
    assert read_network(path).cpds_ == network.cpds_
    path.write_text(text.format("0.3333, 0.6"))
    with pytest.raises(ValueError, match=r"n.bif, line 2: a row .* sums to 0.9333"):
        read_network(path)


def test_bif_dialects(tmp_path):
    """Comments, properties, defaults, tables of several rows, quotes, no commas."""
    path = tmp_path / "n.bif.gz"
    text = """// a comment
    network "my net" { property version 1; }
    variable  a { type discrete[2] { "yes", no }; property position = (1, 2) ; }
    variable b { /* states */ type discrete [ 2 ] { yes, no }; }
    probability(a) { table 0.25 0.75; }
    probability(b | a) { default 0.5, 0.5; (yes) 1e-1, 9.0E-1; }
    """
    path.write_bytes(gzip.compress(text.encode()))
    network = read_network(path)
    assert network.states_ == {"a": ("yes", "no"), "b": ("yes", "no")}
    np.testing.assert_allclose(network.cpds_["b"].values, [[0.1, 0.9], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        ("bif", "network x {\n}\nvariabel y {}", "line 3: network, variable or probability"),
        ("bif", "variable x {\n type discrete [ 3 ] { a, b };\n}", "line 2: 'x' needs 3"),
        ("bif", "variable x { type discrete [ 1 ] { a };", "line 1: this { is never closed"),
        ("bif", "variable x { type discrete [ 1 ] { a }; }", "variable 'x' has no table"),
        ("bif", "variable x { type discrete [ 1 ] { a }; }\nprobability ( x | y ) { table 1; }",
         "line 2: there is no variable 'y'"),
        ("bif", "variable x { type discrete [ 2 ] { a, b }; }\nprobability ( x ) {\n"
         " table 0.1, abc; }", "line 3: could not convert"),
        ("bif", "variable x { type discrete [ 2 ] { a, b }; }\nprobability ( x ) {\n"
         " table 0.1; }", "line 3: 2 numbers are needed"),
        ("bif", "variable x { type discrete [ 2 ] { a, b }; }\nprobability ( x ) {\n oops\n}",
         "no row of a table"),
        ("bif", "", "no variable"),
        ("xml", "<BIF>\n<oops></BIF>", "line 2"),
        ("xml", '<!DOCTYPE x [\n<!ENTITY a "b">]><BIF/>', "line 2: entity"),
        ("net", "net { }\nnod x { }", "line 2: net"),
        ("net", 'node x { states = ("a" "b"); }\npotential (x) { data = (0.5); }', "line 2: the"),
        ("txt", "", "does not end in"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_sentence_with_its_line(suffix, text, message, tmp_path):
    path = tmp_path / f"n.{suffix}"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_network(path)


def test_gaussian_networks_have_no_such_file(tmp_path):
    network = BayesianNetwork(cpds=[LinearGaussianCPD("x", 0.0, [], 1.0)])
    with pytest.raises(ValueError, match="Gaussian"):
        write_network(network, tmp_path / "n.bif")
    quoted = BayesianNetwork(cpds=[CPT('a"b', [1.0])])
    with pytest.raises(ValueError, match="cannot be written"):
        write_network(quoted, tmp_path / "n.bif")


def test_a_large_table_is_read_whole(tmp_path):
    """130,000 cells, the size of the largest network of the usual collection."""
    rng = np.random.default_rng(0)
    parents = [CPT(f"p{i}", np.full(16, 1 / 16)) for i in range(3)]
    big = CPT("x", rng.dirichlet(np.ones(32), (16, 16, 16)), parents=["p0", "p1", "p2"])
    network = BayesianNetwork(cpds=[*parents, big])
    write_network(network, tmp_path / "big.bif")
    again = read_network(tmp_path / "big.bif")
    np.testing.assert_array_equal(again.cpds_["x"].values, big.values)
