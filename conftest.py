"""Examples of ``pellucid.deep`` and of its pictures need PyTorch: run where it is asked for."""

import os

DEEP = (
    "deep/*",
    "deep/*/*",
    *(f"plots/pictures/networks/{n}" for n in ("attention", "embeddings", "feature_maps")),
)
asked = os.environ.get("PELLUCID_DEEP") == "1"
collect_ignore_glob = [] if asked else [f"src/pellucid/{name}.py" for name in DEEP]
