"""Are the intervals, tests and bounds what they say? Simulate and write CALIBRATION.md.

    python -m benchmarks.evaluation.calibration [scale]

``scale`` shortens the simulations (1 takes a few minutes). "about" rows should be near the
nominal value, "at least" and "at most" rows on their side; "reported" rows show a weakness.
"""

import sys
import time
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[1]


def groups() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("calibration_*.py"))


def table(name: str, scale: float) -> str:
    """The rows of one group as a Markdown table."""
    rows = import_module(f"benchmarks.evaluation.{name}").rows(scale)
    head = f"## {name.removeprefix('calibration_')}"
    lines = [head, "", "| what | nominal | measured | Monte-Carlo error | simulations |"]
    lines.append("|---|---:|---:|---:|---:|")
    lines += [
        f"| {what} | {nominal:g} | {measured:.3f} | {error:.3f} | {n:,} |"
        for what, nominal, measured, error, n in rows
    ]
    return "\n".join([*lines, ""])


def main(scale: float) -> None:
    text = [
        "# Calibration",
        "",
        "Coverage of intervals, type-I error of tests at level 0.05, how often bounds are broken:",
        "measured by simulation with known truth.",
        "Written by `python -m benchmarks.evaluation.calibration`;",
        '"about" rows should be near the nominal value within the Monte-Carlo error, "at least"',
        'and "at most" rows on their side of it; "reported" rows show a known weakness.',
        "",
        f"- date: {time.strftime('%Y-%m-%d')}, scale {scale:g}",
        "",
        *(table(name, scale) for name in groups()),
    ]
    (FOLDER / "CALIBRATION.md").write_text("\n".join(text))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
