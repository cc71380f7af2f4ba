"""Data in and out: files, frames and databases, bundled tables, generators, blocks of rows.

Read ``loader`` first; ``opening`` chooses among ``delimited``, ``jsonlines``, ``sql`` and
``table``; ``block`` reads by ranges of rows; ``tables`` and ``generators`` are the data that come
along.

Every public name is imported on first use, so ``import pellucid.data`` costs nothing.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Blocks": "block",
    "DataInfo": "catalog",
    "DataWarning": "findings",
    "blocks": "block",
    "list_data": "catalog",
    "load": "loader",
    "load_food": "tables",
    "load_idx": "idx",
    "load_iris": "tables",
    "load_network": "tables",
    "load_nist": "tables",
    "load_penguins": "tables",
    "load_play_ball": "tables",
    "load_points": "tables",
    "load_table": "tables",
    "make": "generators",
    "make_blobs": "generators",
    "make_exponential": "generators",
    "make_line_labels": "generators",
    "make_mixture": "generators",
    "make_moons": "generators",
    "make_noisy_line": "generators",
    "make_noisy_quadratic": "generators",
    "make_rings": "generators",
    "make_step": "generators",
    "make_three_clusters": "generators",
    "make_threshold_strip": "generators",
    "make_two_blobs": "generators",
    "nist_certified": "tables",
    "write_csv": "write",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
