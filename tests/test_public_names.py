"""Public import paths and signatures stay: they are written down in ``public_names.txt``."""

import difflib

from public_names import FILE, lines


def test_every_public_name_and_signature_is_as_written_down():
    before = FILE.read_text().splitlines()
    changed = list(difflib.unified_diff(before, list(lines()), lineterm="", n=0))
    assert not changed, "\n".join(["see tests/helpers/public_names.py", *changed[:40]])
