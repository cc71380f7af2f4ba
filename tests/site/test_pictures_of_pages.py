"""The pictures of the pages and of the gallery: no text that is small, cut off or struck."""

import ast

import matplotlib.pyplot as plt
import pytest
from picture_faults import faults

from tools.website import blocks, gallery, staging


def codes():
    """Page -> its blocks that end in a picture; a block of two pages counts for the first."""
    found, seen = {}, set()
    texts = {page: path.read_text(encoding="utf-8") for page, path in staging.sources().items()}
    for page, text in (texts | {f"gallery/{c}": t for c, t in gallery.pages().items()}).items():
        for code in blocks.python_blocks(text):
            if code.rstrip().endswith(".plot()") and code not in seen:
                seen.add(code)
                found.setdefault(page, []).append(code)
    return found


CODES = codes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", list(CODES))
def test_no_picture_of_a_page_has_a_fault(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = []
    for code in CODES[page]:
        plt.close("all")
        exec(compile(ast.parse(code), page, "exec"), {"__name__": "__page__"})
        figure = plt.figure(plt.get_fignums()[-1])
        figure.canvas.draw()  # once, as when it is saved
        found += [(code.strip().splitlines()[-1], fault) for fault in faults(figure)]
        plt.close("all")
    assert found == []
