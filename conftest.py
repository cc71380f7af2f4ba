"""Examples of ``pellucid.deep`` need PyTorch and run where it is asked for; names are stable."""

import os

DEEP = (
    "deep/*",
    "deep/*/*",
    *(f"plots/pictures/networks/{n}" for n in ("attention", "embeddings", "feature_maps")),
)
asked = os.environ.get("PELLUCID_DEEP") == "1"
collect_ignore_glob = [] if asked else [f"src/pellucid/{name}.py" for name in DEEP]


def pytest_collection_modifyitems(items):
    """Names of tests are the same in every process, or the processes cannot share them out."""
    odd = [item.nodeid for item in items if " at 0x" in item.nodeid]
    assert not odd, f"names with addresses: {odd}; give ids"
