"""Write what is installed to a file, and check that it fits together: ``python tools/audit.py``.

The file is a CycloneDX 1.5 bill of materials, made from the metadata of the installed
distributions. ``pip check`` then says whether every requirement is met. No server is asked: known
weaknesses are not looked up.
"""

import json
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


def components() -> list[dict[str, Any]]:
    """Every installed distribution, once, by name."""
    found = {}
    for one in distributions():
        name, version = one.metadata["Name"].lower().replace("_", "-"), one.version
        licence = one.metadata.get("License-Expression") or one.metadata.get("License") or ""
        entry: dict[str, Any] = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
        }
        if licence and "\n" not in licence and len(licence) <= 100:
            entry["licenses"] = [{"license": {"name": licence}}]
        found[name] = entry
    return [found[name] for name in sorted(found)]


def bill() -> dict[str, Any]:
    """The bill of materials; the same installation gives the same text."""
    listed = components()
    own = [one for one in listed if one["name"] == "pellucid"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**own[0], "type": "application"}} if own else {},
        "components": [one for one in listed if one["name"] != "pellucid"],
    }


def main(path: str = "sbom.json") -> int:
    """Write the bill, run ``pip check``, return its exit code."""
    made = bill()
    Path(path).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(made['components'])} distributions")
    return subprocess.run([sys.executable, "-m", "pip", "check"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
