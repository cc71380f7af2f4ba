"""What the site is made from: every page is reached, every lecture and every lab page resolves."""

import ast
import itertools
import json
import os
import re
from html import unescape
from pathlib import Path

import pytest

from pellucid.lab.pages import PAGES as PAGES_OF_THE_LAB
from pellucid.lab.pages import page_of
from tools.website import (
    blocks,
    chapters,
    charts,
    gallery,
    labs,
    names,
    reference,
    template,
    textbook,
    topics,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {str(p.relative_to(DOCS).with_suffix("")): p for p in sorted(DOCS.rglob("*.md"))}
MADE = {"gallery/index", "textbook/index", "api/index"}
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_page_is_in_a_toctree():
    reached = {"index", *(f"algorithms/{name}" for name in names.pages())}
    for page, path in PAGES.items():
        for tree in TOCTREE.findall(path.read_text(encoding="utf-8")):
            entries = [line for line in tree.split("\n") if line and not line.startswith(":")]
            reached |= {os.path.normpath(Path(page).parent / entry) for entry in entries}
    assert PAGES.keys() - reached == set()
    assert reached - PAGES.keys() == MADE


def test_two_hundred_lectures_lead_to_pages():
    found = topics.lectures()
    assert len({lecture.title for lecture in found}) >= 200
    assert len({lecture.course for lecture in found}) == 5
    wrong = [(lecture.title, p) for lecture in found for p in lecture.pages if p not in PAGES]
    assert wrong == []
    assert all(lecture.pages for lecture in found)


def test_the_words_of_books_and_slides_stand_on_their_pages():
    """Who looks for "overfitting" finds it, by the search field and on the page it leads to."""
    here, absent = topics.words()
    wrong = []
    for words, page in here.items():
        plain = " ".join(PAGES[page].read_text(encoding="utf-8").split())
        text = re.sub(r"[`*]", "", plain).lower()
        wrong += [(word, page) for word in words.lower().split(", ") if word not in text]
    assert wrong == []
    assert {page for page in absent.values() if page} - PAGES.keys() == set()
    known = " ".join(thing.name for thing in names.public().values()).lower()
    said = [re.sub(r"\W", "", re.sub(r"s?(,| and | \(|$).*", "", word)).lower() for word in absent]
    assert [word for word in said if word in known] == []


def test_every_algorithm_is_taught_somewhere():
    taught = {page for lecture in topics.lectures() for page in lecture.pages}
    assert {f"algorithms/{name}" for name in names.pages()} - taught == set()


def test_every_algorithm_is_reached_from_a_chapter():
    reached = []
    for path in sorted((DOCS / "course").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        reached += chapters.LINK.findall(chapters.with_further_pages(path.stem, text))
    assert names.pages().keys() - set(reached) == set()


@pytest.mark.parametrize("page", list(names.pages()))
def test_an_algorithm_has_its_picture_or_says_why_not(page):
    text = names.pages()[page]
    assert re.search(r"\.plot\(\)", text) or "no picture" in text
    if re.search(r"no page of the lab|lab has no page", text):
        made = template.with_template(f"algorithms/{page}", text)
        assert not labs.FENCE.search(made), "its lab page stands there"


@pytest.mark.parametrize("page", list(names.pages()))
def test_an_algorithm_shows_its_lab_page_or_that_of_a_relative(page):
    """Or none, where ``lab_pages.toml`` says why."""
    text = template.with_template(f"algorithms/{page}", names.pages()[page])
    tried = template.sections(text)[1]["Try it"].strip()
    about = names.names_of(page)
    shown, own, near = labs.wanted(tried), set(labs.own(about)), labs.akin(about)
    said = bool(near and tried.startswith(near[1]))
    assert said == bool(shown and not shown & own)
    assert not said or shown == {near[0]}, "the sentence names the page in the frame"
    none = labs.belonging()["none"]
    assert (page in none) == ("The lab has no page" in tried) == (not shown)
    assert len(none.get(page, "a reason in words").split()) >= 4


def test_what_the_lab_shows_for_others_is_public_and_used():
    """No name of ``lab_pages.toml`` is mistyped, and its pages are there."""
    kinds = labs.belonging()
    known = {thing.name for thing in names.public().values()}
    for kind in ("own", "relative", "companion"):
        assert kinds[kind].keys() - known == set(), kind
        assert set(kinds[kind].values()) <= set(PAGES_OF_THE_LAB), kind
    near = [*kinds["relative"], *kinds["companion"]]
    assert len(near) == len(set(near))
    assert kinds["none"].keys() <= names.pages().keys()


@pytest.mark.parametrize("page", list(names.pages()))
def test_pitfalls_lead_to_the_scenes_that_break_the_method(page):
    """Each break scene of its own page of the lab, by its question; of no relative's."""
    text = template.with_template(f"algorithms/{page}", names.pages()[page])
    pitfalls = template.sections(text)[1]["Pitfalls"]
    linked = re.findall(r'_static/lab/(\w+)\.html#story=(\d+)">([^<]+)</a>', pitfalls)
    own = labs.own(names.names_of(page))
    scenes = {(one, i + 1): s for one in own for i, s in enumerate(page_of(one).story)}
    breaking = {key for key, scene in scenes.items() if scene.kind == "Break"}
    assert {(one, int(i)) for one, i, _ in linked} == breaking
    assert len(linked) == len(breaking)
    for one, i, words in linked:
        asked = scenes[one, int(i)].question.text
        assert unescape(words) in asked or "{" in asked
        assert not re.search(r"[*_`${}\[\]]", words), "Markdown would read it"
    assert set(own) & {one for one, _, _ in linked} <= labs.wanted(text)  # they will be exported


@pytest.mark.parametrize("page", list(names.pages()))
def test_an_algorithm_has_every_section_of_the_template(page):
    """By hand or made; what a page cannot have stands there with its reason."""
    text = template.with_template(f"algorithms/{page}", names.pages()[page])
    head, found = template.sections(text)
    assert len(blocks.FENCED.sub("", head).split()) >= 8, "what it is for, in two sentences"
    order = [title for title in template.ORDER if title]
    made = [title for title in found if title in order]
    assert made == sorted(made, key=order.index), made
    missing = [title for title in order[:-1] if not found.get(title, "").strip()]
    assert missing == []
    assert "References" in found or re.search(r"^References?: ", text, re.MULTILINE)
    assert "$" in found["The mathematics"], "the mathematics is typeset"
    assert len(found["The idea"].split()) <= 150
    assert "$$" not in found["The idea"]
    assert len(found["Choosing"].split()) >= 10
    assert re.search(r"^- ", found["Pitfalls"], re.MULTILINE)


@pytest.mark.parametrize("page", list(names.pages()))
def test_no_sentence_is_cut_off_by_the_picture(page):
    """What stands before the first block is whole: its formula does not come after the picture."""
    head = names.pages()[page].partition("\n```python")[0].rstrip()
    assert head.endswith((".", "?"))


TIMED = re.compile(r"\b\d[\d.,]* (?:ms|µs|s|seconds?|minutes?)\b(?!\^)")


@pytest.mark.parametrize("page", list(names.pages()))
def test_seconds_come_from_a_program(page):
    """Under "The machine" stands what was measured, with its date; a typed figure grows old."""
    _, found = template.sections(names.pages()[page])
    for title, body in found.items():
        text = re.sub(r"\$[^$]*\$|`[^`]*`", "", blocks.FENCED.sub("", body))
        assert not TIMED.search(text) or "python -m benchmarks" in body, title


@pytest.mark.parametrize("page", list(names.pages()))
def test_an_algorithm_is_introduced_in_one_breath(page):
    """What it is called in words, what it does and for whom: two sentences without a formula."""
    head, _ = template.sections(names.pages()[page])
    title, first, *_ = re.split(r"\n\s*\n", head.strip())
    known = {thing.name for thing in names.public().values()}
    method = re.findall(r"\w+", title.partition(":")[0])
    classes = [word for word in method if word in known and not names.is_word(word)]
    assert all(word.isupper() for word in classes), "the method before its class"
    assert 15 <= len(first.split()) <= 75
    assert "$" not in first
    assert "|" not in first
    assert all(re.fullmatch(r"[\w.*]+", code) for code in re.findall(r"`([^`]+)`", first))
    assert len(re.findall(r"[.?)](?=\s|$)", first)) >= 2
    assert first.endswith((".", "?"))


def test_every_lab_page_and_preset_exists():
    for path in PAGES.values():
        for match in labs.FENCE.finditer(path.read_text(encoding="utf-8")):
            assert "<iframe" in labs.frame(match, "")


def test_presets_that_an_exercise_names_are_in_the_labs_of_its_chapter():
    for path in sorted((DOCS / "course").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        pages = [page_of(match[1]) for match in labs.FENCE.finditer(text)]
        known = {preset.name for page in pages for preset in page.presets}
        named = re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text.split("## Exercises")[1])
        assert set(named) - known == set(), path


def test_fourteen_chapters_have_the_same_parts():
    chapters = [page for page in PAGES if re.match(r"course/\d\d-", page)]
    assert len(chapters) == 14
    parts = ("thought", "mathematics", "method", "picture", "machine")
    for chapter in chapters:
        text = PAGES[chapter].read_text(encoding="utf-8")
        for part in parts:
            assert f"## The {part}\n" in text, (chapter, part)
        assert "## Exercises\n" in text
        assert "## Step by step\n" in text
        assert labs.FENCE.search(text)
        assert "$$" in text
        assert "{literalinclude} ../../src/pellucid/textbook/" in text
        assert ".plot()\n```" in text


def test_included_files_exist():
    for path in PAGES.values():
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\{(?:literalinclude|include)\} (\S+)", text):
            assert (path.parent / target).exists(), (path, target)


def test_every_picture_has_code_in_the_gallery():
    for chapter in gallery.chapters().values():
        for name in chapter:
            assert re.search(r"\.plot\(\)\s*(#.*)?$", gallery.code(name).strip().split("\n")[-1])


def test_every_method_of_the_textbook_is_on_a_page(tmp_path):
    textbook.write(tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md"))
    files = [p for p in names.BOOK.rglob("*.py") if p.name != "__init__.py"]
    assert text.count("```{literalinclude}") == len(files)


def test_chapters_of_the_textbook_have_short_titles(tmp_path):
    pages = [p for p in textbook.write(tmp_path) if p.stem != "index"]
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in pages]
    assert [title for title in titles if len(title.split()) > 5] == []


def test_what_prints_is_not_called_ignored():
    """A parameter that does something is documented with its type."""
    for path in (ROOT / "src/pellucid").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r": ignored\n\s+(Above|Prints)", text), path


def test_docstrings_become_text():
    lines = ["The sum |w| of ``coef_`` and coef_.", "", "a   first", "b   second"]
    first = r"The sum \|w\| of ``coef_`` and coef\_."
    assert reference.plain(lines) == [first, "", "::", "", "    a   first", "    b   second"]


@pytest.mark.parametrize("package", sorted({t.package for t in names.public().values()}))
def test_a_list_of_names_holds_names_alone(package):
    """A sentence below the attributes is a note; numpydoc would print its lines as names."""
    wrong = []
    for thing in names.public().values():
        node = reference.node_of(thing) if thing.package == package else None
        for part in [node, *getattr(node, "body", ())] if node is not None else ():
            kinds = (ast.ClassDef, ast.FunctionDef)
            lines = (ast.get_docstring(part) or "").split("\n") if isinstance(part, kinds) else []
            section, lines = "", reference.with_notes(lines)
            for line, below in itertools.pairwise([*lines, ""]):
                section = line if re.fullmatch(r"-{3,}", below) else section
                named = section in reference.NAMED and line not in (section, "") and line[0] != " "
                if named and line.strip("-") and not reference.ENTRY.fullmatch(line):
                    wrong.append((thing.name, line))
    assert wrong == []


def test_sentences_below_a_list_of_names_are_kept_once():
    lines = ["Attributes", "---", "a_ : one", "``fit`` takes", "two.", "", "Notes", "---", "Old."]
    found = reference.with_notes(["Sum.", "", *lines])
    assert found.count("Notes") == 1
    assert found[found.index("Notes") :] == ["Notes", "---", "Old.", "", "``fit`` takes", "two."]
    assert found[: found.index("Notes")][:5] == ["Sum.", "", "Attributes", "---", "a_ : one"]


def test_a_name_right_below_a_sentence_stays_a_name():
    lines = ["Parameters", "---", "a : one", "    Text.", "", "A sentence.", "b, c", "    More."]
    found = reference.with_notes(lines)
    kept = ["Parameters", "---", "a : one", "    Text.", "", "b, c", "    More."]
    assert found == [*kept, "", "Notes", "-----", "A sentence."]


def test_headings_of_methods_and_benchmarks_are_names():
    """No "Smo", "Fast ica" or "Glm"."""
    results = json.loads((ROOT / "benchmarks/results.json").read_text(encoding="utf-8"))
    headings = [charts.heading(case["family"]) for case in results]
    headings += [
        textbook.called(path.relative_to(names.BOOK).with_suffix("").as_posix())
        for path in names.BOOK.rglob("*.py")
        if path.name != "__init__.py"
    ]
    short = r"(?i)\b(svm|ica|pca|glm|lars|lsh|mds|nmf|tsne|cv|smo|td|lda|qda|knn|hmm|lbfgs)\b"
    found = {word for title in headings for word in re.findall(short, title)}
    assert {word for word in found if word != word.upper()} == set()


def test_blocks_are_run_alone_and_their_picture_is_described():
    code = "from pellucid.plots import scatter\nscatter([[0.0, 1.0], [1.0, 0.0]]).plot()\n"
    result = blocks.run_block(code)
    assert result["image"][0] == "svg"
    assert "2 points" in result["alt"]
    with pytest.raises(NameError):
        blocks.run_block("print(scatter)")


def test_the_value_that_a_block_ends_in_is_shown():
    assert blocks.run_block("print(1)\n[2, 'b']\n")["printed"] == "1\n[2, 'b']\n"
    assert blocks.run_block("[].append(1)\n")["printed"] == ""
