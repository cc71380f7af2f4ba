"""``python -m benchmarks.calibration``: simulate every interval and write CALIBRATION.md.

--jobs N            processes
--replications N    of every case (slow cases run a share of them)
--total SECONDS     start no further replication after that
--case TEXT         only cases whose name contains TEXT
--out FILE          where to write; "-" prints only the table
"""

import argparse
from pathlib import Path

from benchmarks.calibration.page import case_table, page
from benchmarks.calibration.runner import cases, measure, measure_others

DEFAULT = Path(__file__).parents[1] / "CALIBRATION.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--total", type=float, default=1200.0)
    parser.add_argument("--case", default="")
    parser.add_argument("--out", default=str(DEFAULT))
    given = parser.parse_args()
    wanted = [case for case in cases() if given.case in case.name]
    rows = measure(wanted, jobs=given.jobs, replications=given.replications, total=given.total)
    print("\n".join(case_table(rows)))
    if given.out != "-":
        scale = min(given.replications, given.total) / 2000  # about a minute for 1000
        others = measure_others(jobs=given.jobs, scale=scale)
        how = f"{given.replications:,} replications, scale {scale:g} of the tests"
        Path(given.out).write_text(page(rows, others, how))
    return int(any(row.verdict == "fails" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
