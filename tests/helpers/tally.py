"""Counts that many cases of one question share, whichever process runs them.

Each case leaves its count in a folder of the run; the one that completes them judges the sum.
"""

import json
import os


class Tally:
    """The folder that every process of a run of pytest shares."""

    def __init__(self, tmp_path_factory):
        base = tmp_path_factory.getbasetemp()
        self.folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "tally"
        self.folder.mkdir(exist_ok=True)

    def add(self, question, case, found, cases):
        """Add what one case found, numbers each; the sums if all ``cases`` are there, else None."""
        path = self.folder / f"{question}, {case}.json"
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(list(found)))
        draft.replace(path)
        return self.total(question, cases)

    def total(self, question, cases):
        """The sums of what all ``cases`` of a question found; None while some are missing."""
        parts = [json.loads(one.read_text()) for one in self.folder.glob(f"{question}, *.json")]
        return [sum(c) for c in zip(*parts, strict=True)] if len(parts) == cases else None
