"""The page: whole, safe, self-contained, and the same from its JSON."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from example_record import NASTY, example

from pellucid.cli import main
from pellucid.report import render, to_json
from pellucid.report.charts import Frame, apart
from pellucid.report.explanation import render_explanation
from pellucid.report.pictures import dependence
from pellucid.report.rendering import SECTIONS
from pellucid.report.sentences import board_lead, evidence_words, slice_words

KINDS = ["binary", "regression"]


class Tags(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("kind", KINDS)
def test_all_seventeen_sections_are_there(kind):
    page = render(example(kind))
    assert len(SECTIONS) == 17
    for key, _ in SECTIONS:
        assert f'id="{key}"' in page
        assert f'href="#{key}"' in page


@pytest.mark.parametrize("kind", KINDS)
def test_every_finding_stands_once(kind):
    record = example(kind)
    page = render(record)
    listed = re.findall(r'<span class="code">(PEL\d+)</span>', page)
    assert listed == [one.code for one in record.findings]
    assert not re.search(r"\s%", page.replace("\u00a0", ""))  # no line begins with a percent sign


def test_evidence_is_said_in_words():
    found = {"rows": 585, "least_errors": 159, "by_chance": True, "examples": [[1, 2]], "of": None}
    assert evidence_words(found) == (
        "rows 585; errors on the learning rows that no model can avoid 159"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_the_same_from_its_json(kind):
    record = example(kind)
    again = json.loads(json.dumps(to_json(record), allow_nan=False))
    assert render(again) == render(record)


@pytest.mark.parametrize("kind", KINDS)
def test_user_text_is_escaped_and_nothing_is_fetched(kind):
    page = render(example(kind, column=NASTY))
    tags = Tags(page).found
    assert {tag for tag, _ in tags}.isdisjoint({"script", "img", "iframe", "link", "object"})
    assert not [a for _, attrs in tags for a in attrs if a.startswith("on")]
    outside = [
        v for _, attrs in tags for k, v in attrs.items() if k in ("src", "href", "xlink:href")
    ]
    assert all(value.startswith("#") for value in outside)
    policy = next(a for t, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    expected = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert policy["content"] == expected
    assert not re.search(r"url\(|@import|https?://", page)
    assert len(page.encode()) < 5_000_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("acting", ["\x1b[31m", "\x9b31m", "\u202e", "\u200f", "\u2066"])
def test_characters_that_act_are_written_out(kind, acting):
    page = render(example(kind, column=f"a{acting}b"))
    assert acting[0] not in page
    assert f"a\\u{ord(acting[0]):04x}" in page


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [("final", "threshold", {"recall": [10**400]}), ("comparison", "better", [0, 0, 0])],
)
def test_a_torn_record_is_one_sentence(part, key, value, tmp_path, capsys):
    record = to_json(example())
    record[part][key] = {**record[part][key], **value} if isinstance(value, dict) else value
    path = tmp_path / "report.json"
    path.write_text(json.dumps(record))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(path)])
    assert int(ended.value.code) == 3
    assert "is not a whole report" in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_has_words(kind):
    for tag, attributes in Tags(render(example(kind))).found:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]


def test_a_partial_study_says_so():
    record = example()._replace(
        final=None, insight=None, diagnosis=None, verdict=None, card=None, comparison=None,
        partial="It was interrupted while boosting was trained.",
    )  # fmt: skip
    page = render(record)
    assert "This study is not complete." in page
    assert "interrupted while boosting" in page
    assert 'id="verdict"' not in page
    assert 'href="#final"' not in page


def test_many_models_are_numbered_in_the_matrix():
    """Twelve names side by side do not fit on a page; their numbers do."""
    record = to_json(example("binary"))
    assert "<abbr" not in render(record)
    names = [f"model {i}" for i in range(8)]
    record["comparison"] |= {
        "names": names,
        "adjusted": [[0.5] * 8] * 8,
        "better": [[False] * 8] * 8,
    }
    page = render(record)
    assert '<abbr title="model 1">2</abbr>' in page
    assert 'model 1 <span class="quiet">2</span>' in page


def test_another_schema_is_refused():
    with pytest.raises(ValueError, match="not a report"):
        to_json({"schema": "something else"})


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_browser_finds_no_image_in_hostile_names(tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(example(column=NASTY)), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
               f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    tags = Tags(done.stdout).found
    assert len(tags) > 300
    assert "img" not in {tag for tag, _ in tags}


def test_the_leaderboard_says_by_which_rule_a_model_was_chosen():
    said = {
        prefer: board_lead({"split": None, "reproduction": {"plan": {"prefer": prefer}}}, "rmse")
        for prefer in ("strong", "simple", "explainable")
    }
    assert "shown to be below 1 %" in said["strong"]
    assert "one standard error of the difference" in said["simple"]
    assert "a person can read" in said["explainable"]


def test_ticks_have_room_beside_the_title():
    """Labels of large numbers end right of the title of the axis."""
    chart = Frame((0.0, 1.0), (0.0, 160_000.0)).axes("actual", "predicted").svg("x")
    ends = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="end">([^<]+)<', chart)
    assert "150,000" in {words for _, words in ends}
    assert all(float(x) - 6.4 * len(words) > 16 for x, words in ends)
    assert Frame((0.0, 1.0), (0.0, 1.0)).left == 52


def test_names_at_the_ends_of_lines_stand_apart():
    assert apart([20.0, 12.0, 10.0], 13) == [36.0, 23.0, 10.0]
    curve = {"name": "x", "values": [0, 1], "low": None, "high": None}
    ends = [("probability of c0", 0.3), ("probability of c1", 0.301), ("probability of c2", 0.302)]
    curves = [curve | {"mean": [0.5, end], "output": output} for output, end in ends]
    drawn = str(dependence(curves).svg)
    heights = sorted(float(y) for y in re.findall(r'class="name" x="[\d.]+" y="([\d.]+)"', drawn))
    assert len(heights) == 3
    assert min(b - a for a, b in pairwise(heights)) >= 13


def test_what_a_program_needs_is_not_printed_as_evidence():
    assert evidence_words({"groups": 50, "reason": "Rows of one", "said": []}) == "groups 50"
    found = {"columns": {"day": {"form": "date", "low": "2012-01-01", "in_row_order": True}}}
    assert evidence_words(found) == "columns day form date; low 2012-01-01"


def test_slices_stand_beside_the_error_of_all_rows():
    """Whether a slice is wrong more often than the others can be seen without a calculation."""
    one = {"column": "c", "slice": "a", "n": 9, "error": 0.4, "low": 0.1, "high": 0.8}
    final = {"slices": [one | {"beyond": False}], "table": {"error": {"estimate": 0.2512}}}
    said = slice_words(final, classes=True)
    assert "share wrong (of all: 0.251) with intervals" in said["slice_lead"]
    assert said["slice_rows"] == [("c: a", 9, 0.4, 0.1, 0.8)]
    assert "(of all" not in slice_words({**final, "table": {}}, classes=True)["slice_lead"]


def test_an_explanation_speaks_of_a_band_only_where_one_is_drawn():
    names = ("importance", "model_importance", "contributions", "rules", "summary")
    record = dict.fromkeys(names) | {"about": {}, "card": {}, "metric": "", "rows": 9}
    curve = {"name": "x", "values": [0.0, 1.0], "mean": [0.2, 0.4], "low": [0.1, 0.3],
             "high": [0.3, 0.5], "kind": "number", "output": "probability of a"}  # fmt: skip
    one = render_explanation(record | {"dependence": [curve]}, "m")
    assert "the band holds the predictions" in one
    two = [curve, curve | {"output": "probability of b"}]
    assert "the band" not in render_explanation(record | {"dependence": two}, "m")
