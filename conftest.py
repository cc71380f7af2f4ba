"""Examples in the docstrings of ``pellucid.deep`` need PyTorch: run where it is asked for."""

import os

collect_ignore_glob = [] if os.environ.get("PELLUCID_DEEP") == "1" else ["src/pellucid/deep/*.py"]
