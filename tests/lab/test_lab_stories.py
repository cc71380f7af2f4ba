"""Every method has a story: scenes bound to frames, questions of its own, facts that hold."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from story_facts import holds, trace_of, unbound_numbers, unknown_numbers
from symbol_links import OPERATORS, links, names_of, panels_of, symbols_of

from pellucid.lab.pages import ENTRIES, PAGES, SHOWN, page_of
from pellucid.lab.stories import source_of, story_file
from tools.website import labs

NAMES = list(PAGES)
SCENES = [(name, i) for name in NAMES for i in range(len(page_of(name).story))]


@pytest.mark.parametrize("name", NAMES)
def test_a_story(name):
    """4 to 8 scenes; one breaks the method; every preset is asked about."""
    page = page_of(name)
    assert 4 <= len(page.story) <= 8
    assert {scene.kind for scene in page.story} <= {"Look", "Predict", "Reveal", "Break", "Mend"}
    assert page.story[0].kind == "Look"
    assert "Break" in {scene.kind for scene in page.story}
    assert {scene.preset for scene in page.story} == {preset.name for preset in page.presets}
    assert page.related
    assert set(page.related) <= set(PAGES) - {name}
    assert len({preset.id for preset in page.presets}) == len(page.presets)
    known = {"summary", "related", "textbook", "unmarked", "symbols", "lines", "handles", "scene"}
    assert set(story_file(name)) <= known


@pytest.mark.parametrize(("name", "i"), SCENES)
def test_a_scene(name, i):
    """Its frames exist, its numbers are theirs, and what it says of them is true."""
    page = page_of(name)
    scene = page.story[i]
    frames = trace_of(page, scene.preset).frames
    at, to = (k if k >= 0 else len(frames) + k for k in (scene.at, scene.to))
    assert 0 <= at <= to < len(frames)
    assert len(scene.say.split()) <= 40
    question = scene.question
    assert 2 <= len(question.options) <= 4
    assert question.text
    assert question.why
    assert unknown_numbers(page, scene) == []
    assert unbound_numbers(page, scene) == set()
    assert holds(page, scene), scene.true


def test_a_number_that_nothing_bears_out_is_seen():
    """A figure in the words that no frame and no fact holds is found, one that is there is not."""
    page = page_of("kmeans")
    scene = next(one for one in page.story if "42" in one.question.why)
    assert unbound_numbers(page, scene) == set()
    false = scene.question._replace(why=scene.question.why.replace("42", "43"))
    assert unbound_numbers(page, scene._replace(question=false)) == {"43"}


def test_no_two_presets_share_a_question():
    asked = {}
    for name in NAMES:
        page = page_of(name)
        for scene in page.story:
            preset = next(p for p in page.presets if p.name == scene.preset)
            asked.setdefault(scene.question.text.casefold(), set()).add((name, preset.id))
    assert [places for places in asked.values() if len(places) > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_that_run(name):
    """The source is the textbook's, and every rule lights a line, at a frame of a preset."""
    source = source_of(name)
    assert source is not None
    assert len(source["text"].splitlines()) < 130
    page = page_of(name)
    formulas = [f.formula for p in page.presets for f in trace_of(page, p.name).frames]
    for begins, parts in source["lines"]:
        assert any(begins in formula for formula in formulas), begins
        assert all(part in source["text"] for part in parts), parts


UNLINKED: dict[str, str] = {}  # page -> why nothing in its first formula can stand for a mark


@pytest.mark.parametrize("name", NAMES)
def test_the_first_formula_is_linked_to_the_picture(name):
    """Where a page opens some symbol stands for what is drawn beside it."""
    page = page_of(name)
    trace = trace_of(page, page.presets[0].name)
    meant = set().union(*links(trace, trace.frames[0], page.symbols).values())
    assert bool(meant) != (name in UNLINKED), trace.frames[0].formula
    drawn = {label for panel in panels_of(trace, trace.frames[0]) for _, label in names_of(panel)}
    assert meant <= drawn


@pytest.mark.parametrize("name", NAMES)
def test_every_letter_stands_for_a_mark_or_is_said_not_to(name):
    """Of all presets; what the story says of symbols is used, and true of them."""
    page, linked, used, met, every = page_of(name), set(), set(), set(), set()
    for preset in page.presets:
        trace = trace_of(page, preset.name)
        for frame in trace.frames:
            found = links(trace, frame, page.symbols)
            every |= {label for panel in panels_of(trace, frame) for _, label in names_of(panel)}
            met |= {symbol for symbol, *_ in found}
            linked |= {symbol for (symbol, *_), names in found.items() if names}
            used |= {symbol + sub for (symbol, sub, _), names in found.items() if names}
            used |= {symbol + prime for symbol, _, prime in found}
    letters = {symbol for symbol in met if not re.match("[A-Za-z]{2}", symbol)}
    unmarked = story_file(name).get("unmarked", [])
    assert letters - linked - OPERATORS == set(unmarked)
    assert sorted(set(unmarked)) == sorted(unmarked)
    assert set(page.symbols) <= linked | used
    for said in page.symbols.values():
        for label in [said] if isinstance(said, str) else said:
            assert any(one.startswith(label) for one in every), label


def test_symbols_are_read_as_the_browser_reads_them():
    """Letters, accents, indices of three kinds, primes, words; no numbers, no index as a letter."""
    assert symbols_of("x̂ = w₁ x2 + c_k' ȳ, 1.5e−3") == [
        ("x̂", "", ""), ("w", "1", ""), ("x", "2", ""), ("c", "k", "′"), ("ȳ", "", ""),
    ]  # fmt: skip
    assert symbols_of("a row is called class 1")[0] == ("row", "", "")  # without the article
    found = [symbol for symbol, *_ in symbols_of("Σ_(i ∈ N₃) wᵢ")]
    assert found == ["Σ", "i", "N", "w"]


@pytest.mark.parametrize("name", NAMES)
def test_handles_are_of_this_page(name):
    page = page_of(name)
    presets = [trace_of(page, preset.name) for preset in page.presets]
    panels = {panel["name"] for trace in presets for frame in trace.frames
              for panel in panels_of(trace, frame)}  # fmt: skip
    controls = {control.name for control in page.controls}
    for handle in page.handles:
        assert handle["panel"] in panels
        assert {handle["x"], handle["y"]} <= controls


# Rows of docs/what-exists.md that hold methods, and the pages of the lab that belong to each.
FAMILIES = {
    "least squares": "linear_regression gradient_descent robust_regression isotonic_regression",
    "counts and amounts": "poisson_regression",
    "shrinkage": "ridge lasso",
    "subsets, components, Bayes, splines": """subset_selection natural_spline smoothing_spline
        conjugate""",
    "features": "polynomials natural_spline",
    "solvers": "gradient_descent stochastic_descent momentum newton",
    "evaluation": "conformal calibration cross_validation t_tests error_bound tuning_on_test",
    "linear classification": "logistic_regression perceptron",
    "discriminants, naive Bayes": "lda qda gaussian_naive_bayes bayes_rule",
    "decisions": "threshold",
    "trees and ensembles": """cart regression_tree id3 c45 bagging random_forest adaboost
        gradient_boosting isolation_forest""",
    "neighbours": "nearest_neighbours voronoi label_spreading",
    "kernels": """kernel_svm support_vector_regression one_class_svm maximum_margin
        gaussian_process""",
    "clusters": "kmeans agglomerative divisive dbscan optics spectral",
    "mixtures, projections": """gaussian_mixture pca scree probabilistic_pca kernel_pca tsne
        factor_analysis parts""",
    "networks": """neural_network backpropagation autoencoder convolution attention recurrence
        adversaries""",
    "Bayesian networks": "bayesian_network d_separation network_counts network_em hidden_markov",
    "reinforcement": """value_iteration policy_iteration td_learning q_learning sarsa deep_q
        policy_gradient""",
    "foundations": "laplace metropolis conjugate",
}
TOOLS = {
    "pictures",
    "the lab",
    "the study",
    "data",
    "scale",
    "model files",
    "command line",
    "speed",
}


def listed():
    """Families of docs/what-exists.md and the classes that each names."""
    table = Path(__file__).parents[2] / "docs" / "what-exists.md"
    rows = re.findall(r"^\| (\w[^|]*?) \| (.*) \|$", table.read_text("utf-8"), flags=re.MULTILINE)
    return {row: re.findall(r"`([A-Z]\w*\*?)`", cell) for row, cell in rows}


def is_shown(name):
    """Whether a page shows that estimator; ``Bagging*`` is any whose name begins so."""
    estimators = [one for shown in SHOWN.values() for one in shown]
    return any(one == name or one.startswith(name.rstrip("*") * ("*" in name) or " ")
               for one in estimators)  # fmt: skip


def test_every_family_of_what_exists_has_a_page():
    assert listed().keys() == FAMILIES.keys() | TOOLS
    told = {page for text in FAMILIES.values() for page in text.split()}
    assert all(FAMILIES.values())
    assert told == set(PAGES)  # and every page belongs to one


@pytest.mark.parametrize("row", FAMILIES)
def test_every_class_of_a_family_leads_to_a_page(row):
    """It is shown itself, or the documentation shows the page of a relative."""
    near = labs.belonging()["relative"] | labs.belonging()["companion"]
    missing = [name for name in listed()[row] if not is_shown(name)]
    assert [name for name in missing if not any(fnmatchcase(one, name) for one in near)] == []


def test_no_class_with_a_page_of_its_own_is_sent_to_a_relative():
    near = labs.belonging()["relative"] | labs.belonging()["companion"]
    assert {name for name in near if is_shown(name)} == set()
    assert set(near.values()) <= set(PAGES)


def test_the_documentation_counts_the_pages():
    docs = Path(__file__).parents[2] / "docs"
    assert f"{len(PAGES)} addresses" in (docs / "lab.md").read_text("utf-8")
    assert f"a gallery of {len(PAGES)} methods" in (docs / "what-exists.md").read_text("utf-8")
    mended = sum("Mend" in {scene.kind for scene in page_of(name).story} for name in PAGES)
    assert mended > len(PAGES) / 2  # "on most of them one that mends it"


def test_methods_of_a_folder_are_divided():
    """Every method of a folder has one page, and a title without a name of a setting."""
    for name, entry in ENTRIES.items():
        assert page_of(name).settings()["method"] in entry.methods
        assert not re.search(r"[_=]", entry.title)
