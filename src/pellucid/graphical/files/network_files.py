"""Networks in files: BIF, XMLBIF and Hugin NET, each also with ``.gz``."""

import gzip
from pathlib import Path
from typing import Any

from pellucid.core.runtime.whole_file import read_whole
from pellucid.data.spool import unpacked
from pellucid.graphical.files.bif import format_bif, parse_bif
from pellucid.graphical.files.hugin import format_hugin, parse_hugin
from pellucid.graphical.files.xmlbif import format_xmlbif, parse_xmlbif
from pellucid.graphical.network.network import BayesianNetwork
from pellucid.graphical.network.tables import CPT

FORMATS: dict[str, tuple[Any, Any]] = {
    ".bif": (parse_bif, format_bif),
    ".bifxml": (parse_xmlbif, format_xmlbif),
    ".net": (parse_hugin, format_hugin),
    ".xml": (parse_xmlbif, format_xmlbif),
    ".xmlbif": (parse_xmlbif, format_xmlbif),
}


def _format(path: Path) -> tuple[Any, Any]:
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if inner.suffix.lower() not in FORMATS:
        raise ValueError(
            f"{path.name} does not end in {', '.join(FORMATS)} (or one of them with .gz)"
        )
    return FORMATS[inner.suffix.lower()]


def read_network(path: str | Path) -> BayesianNetwork:
    """Read a network from a file; the suffix says its format.

    Rows of tables that are off by less than 1e-4 are scaled to sum 1. A file that cannot be read
    is a ValueError with the line.

    Parameters
    ----------
    path : str or path
        ``.bif``, ``.xmlbif`` (also ``.bifxml``, ``.xml``) or ``.net``, each also with ``.gz``.

    Examples
    --------
    >>> from pellucid.data import load_network
    >>> from pellucid.graphical import read_network
    >>> asia = read_network(load_network("asia"))
    >>> round(asia.probability({"lung": "yes"}, {"xray": "yes", "dysp": "yes"}), 6)
    0.621253
    """
    path = Path(path)
    parse, _ = _format(path)
    packed = path.suffix.lower() == ".gz"
    raw = unpacked(str(path), path.name) if packed else read_whole(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not UTF-8 text: byte {error.start} is no part") from None
    return BayesianNetwork(cpds=parse(text.replace("\r\n", "\n"), path.name))


def write_network(network: BayesianNetwork, path: str | Path) -> None:
    """Write a network to a file; reading it gives the same bits.

    Parameters
    ----------
    network : BayesianNetwork of tables
        Names of variables and states are written as text.
    path : str or path
        As for ``read_network``.

    Examples
    --------
    >>> import os, tempfile
    >>> from pellucid.data import load_network
    >>> from pellucid.graphical import read_network, write_network
    >>> asia = read_network(load_network("asia"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(asia, os.path.join(folder, "asia.xmlbif"))
    ...     read_network(os.path.join(folder, "asia.xmlbif")).cpds_ == asia.cpds_
    True
    """
    path = Path(path)
    _, write = _format(path)
    cpds = list(network.cpds_.values())
    if not all(isinstance(cpd, CPT) for cpd in cpds):
        raise ValueError("only networks of tables can be written, this one is Gaussian")
    raw = write(cpds, network.states_).encode()
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix.lower() == ".gz" else raw)
