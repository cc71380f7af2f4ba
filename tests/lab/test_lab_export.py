"""The exported page: one file, nothing fetched, every text escaped, hashes that fit."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from lab_example import NASTY, example_page, example_trace

from pellucid.lab import export, exporting
from pellucid.lab.exporting import DRAWING, MOST_BYTES, PLAYER, content, page_html, static
from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.pages.control.parts import make_world, values_panel
from pellucid.lab.scene import graph


class Parts(HTMLParser):
    """Start tags with their attributes, and the text of the script and style elements."""

    def __init__(self, page):
        super().__init__(convert_charrefs=False)
        self.tags, self.texts, self.inside = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = (tag, dict(attrs)) if tag in ("script", "style") else None

    def handle_data(self, data):
        if self.inside:
            self.texts.append((*self.inside, data))
            self.inside = None


def block(page):
    """What the script of a page will read."""
    (text,) = [t for tag, a, t in Parts(page).texts if a.get("id") == "lab"]
    return json.loads(text)


def hashed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_a_trace_becomes_one_file_and_comes_back_from_it(tmp_path):
    trace = example_trace()
    path = export(trace, tmp_path / "run.html")
    page = path.read_text("utf-8")
    found = block(page)
    assert found["mode"] == "file"
    assert found["page"] is None
    assert found["traces"] == [{"preset": None, "trace": trace.to_dict()}]
    assert len(page.encode()) < 200_000


def test_a_page_holds_the_trace_of_every_preset(tmp_path):
    page = example_page()
    found = block(export(page, tmp_path / "page.html").read_text("utf-8"))
    assert found["page"] == json.loads(json.dumps(page.to_dict()))
    assert [t["preset"] for t in found["traces"]] == [0, 1]
    rates = [t["trace"]["params"]["rate"] for t in found["traces"]]
    assert rates == [0.1, 2.5]


@pytest.mark.parametrize("name", list(PAGES))
def test_every_page_of_the_gallery_is_a_file_with_its_story(name, tmp_path, monkeypatch):
    """Its scenes with their runs, its card in the gallery, and nothing from outside the folder."""
    monkeypatch.setattr(exporting, "PAGES", {name: PAGES[name]})
    index = exporting.export_gallery(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", f"{name}.html"}
    gallery = block(index.read_text("utf-8"))
    listed = [page["name"] for chapter in gallery["chapters"] for page in chapter["pages"]]
    assert listed == list(PAGES)  # each a link to its file
    assert gallery["cards"][name]["frames"]
    text = (tmp_path / f"{name}.html").read_text("utf-8")
    found, page = block(text), page_of(name)
    assert [scene["question"] for scene in found["page"]["story"]] == [
        json.loads(json.dumps(scene.question._asdict())) for scene in page.story
    ]
    lengths = {one["preset"]: len(one["trace"]["frames"]) for one in found["traces"]}
    for scene in found["page"]["story"]:
        shown = range(-lengths[scene["preset"]], lengths[scene["preset"]])
        assert scene["at"] in shown
        assert scene["to"] in shown
    assert {one["name"] for one in found["page"]["related"]} <= set(PAGES)
    for written in (text, index.read_text("utf-8")):
        assert addresses(written) == {"data:,"}


def addresses(page):
    """What a page names that a browser could go to or fetch, in its tags, script and style."""
    parts = Parts(page)
    wanted = ("src", "href", "action", "data", "srcset", "poster")
    found = {value for _, given in parts.tags for key, value in given.items() if key in wanted}
    code = "".join(t for tag, a, t in parts.texts if tag == "style" or a.get("id") != "lab")
    for name in ("2000/svg", "1998/Math/MathML"):
        code = code.replace(f"http://www.w3.org/{name}", "")
    return found | set(re.findall(r"\w+://[^\s\"'`]+|@import.*|url\((?!#).*", code))


def test_nothing_is_fetched_and_only_our_script_may_run(tmp_path):
    page = export(example_page(), tmp_path / "page.html").read_text("utf-8")
    parts = Parts(page)
    assert {tag for tag, _ in parts.tags}.isdisjoint({"img", "iframe", "object", "base"})
    for _, attributes in parts.tags:
        assert attributes.keys().isdisjoint({"src", "style", "action"})
        assert attributes.get("href", "data:,") == "data:,"  # an icon that is not asked for
        assert not [name for name in attributes if name.startswith("on")]
    code = [t for tag, a, t in parts.texts if tag == "script" and a.get("id") != "lab"]
    style = [t for tag, _, t in parts.texts if tag == "style"]
    assert len(code) == len(style) == 1
    policy = next(a["content"] for _, a in parts.tags if "http-equiv" in a)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'", "script-src": hashed(code[0]), "style-src": hashed(style[0]),
        "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    ours = "".join([*code, *style])
    for name in ("2000/svg", "1998/Math/MathML"):
        ours = ours.replace(f"http://www.w3.org/{name}", "")
    assert not re.search(r"https?://|@import|innerHTML|insertAdjacentHTML|\beval\b", ours)


def test_hostile_text_stays_text(tmp_path):
    page = export(example_page(NASTY), tmp_path / "page.html").read_text("utf-8")
    plain = export(example_page(), tmp_path / "plain.html").read_text("utf-8")
    assert [tag for tag, _ in Parts(page).tags] == [tag for tag, _ in Parts(plain).tags]
    assert block(page)["traces"][0]["trace"]["verdict"] == NASTY
    (text,) = re.findall(r'<script type="application/json" id="lab">(.*?)</script>', page, re.S)
    assert not set(text) & set("<>&\u2028\u2029")


def test_served_pages_carry_the_nonce_and_no_policy_of_their_own():
    page = page_html(content("server", page=example_page()), nonce="abc")
    parts = Parts(page)
    assert not [a for _, a in parts.tags if "http-equiv" in a]
    for tag, attributes, _ in parts.texts:
        assert attributes.get("nonce") == (None if attributes.get("id") == "lab" else "abc"), tag
    assert block(page)["mode"] == "server"


def test_too_large_is_refused_in_one_sentence(tmp_path):
    long = "x" * MOST_BYTES
    with pytest.raises(ValueError, match=r"10\.\d MB, at most 10 MB"):
        export(example_trace()._replace(verdict=long), tmp_path / "run.html")
    assert not (tmp_path / "run.html").exists()


def test_only_traces_and_pages_are_exported(tmp_path):
    with pytest.raises(ValueError, match="there is no page 'nothing'"):
        export("nothing", tmp_path / "x.html")
    with pytest.raises(TypeError, match="takes a Trace, a Page or a page's name, got ndarray"):
        export(np.zeros(3), tmp_path / "x.html")


def test_the_same_trace_gives_the_same_file(tmp_path):
    one, two = (export(example_page(), tmp_path / name) for name in ("a.html", "b.html"))
    assert one.read_bytes() == two.read_bytes()


def test_graphs_and_grid_worlds_are_told_in_words():
    """What a screen reader reads: every box of a graph, every cell of a grid."""
    nodes = [{"x": 0, "y": 0, "label": "x1 < 2\n5 rows"}, {"x": 1, "y": 0}, {"x": 2, "y": 0,
             "label": "yes"}]  # fmt: skip
    assert graph("tree", nodes, [], alt="A tree.")["alt"] == "A tree. x1 < 2 5 rows; yes"
    settings = {
        "world": "two exits",
        "cells": "",
        "step_reward": -0.04,
        "slip": 0.2,
        "discount": 0.9,
    }
    world = make_world(settings)
    n = len(world.mdp.states)
    alt = values_panel(world, np.arange(n) / 10, 1.0, policy=np.arange(n) % 4)["alt"]
    cells = alt.split(": ")[1].rstrip(".").split("; ")
    assert len(cells) == n
    assert "(0, 0) 0 up" in cells
    assert "(0, 1) 0.1 right" in cells
    assert "(0, 3) 0.3" in cells  # an exit: nothing is done there
    assert "(0, 1) 0.1;" in values_panel(world, np.arange(n) / 10, 1.0)["alt"]


@pytest.mark.parametrize(
    "name", [*DRAWING, *PLAYER, "gallery.js", "lab.css", "page.html", "gallery.html"]
)
def test_sources_are_short_lines_of_plain_text(name):
    assert max(map(len, static(name).split("\n"))) <= 100


def test_other_rows_are_not_told_the_story_of_the_first(tmp_path):
    """What a story says was checked on the rows of seed 0."""
    page = block(export("newton", tmp_path / "a.html").read_text("utf-8"))["page"]
    other = block(export("newton", tmp_path / "b.html", seed=3).read_text("utf-8"))["page"]
    assert (len(page["story"]), other["story"]) == (len(page_of("newton").story), [])
