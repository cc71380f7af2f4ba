"""The lab in Firefox: a story by keys, rows and nodes by mouse, a file without a server."""

import pytest
from firefox import FIREFOX, Firefox

from pellucid.lab.exporting import export
from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.serving import served

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed")


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    made = Firefox(tmp_path_factory.mktemp("firefox"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def lab():
    with served() as running:
        yield running


def opened(firefox, lab, name, place=""):
    firefox.open(lab.address(name, place=place))
    firefox.wait("state.trace && !state.running")


def at(firefox, panel, x, y):
    """Pixels of a place in a panel, scrolled into view."""
    return firefox.run(
        "(() => { const f = [...document.querySelectorAll('#panels figure')].find((g) => "
        f"g.panel?.name === '{panel}'); f.scrollIntoView({{block: 'center'}}); "
        "const b = f.querySelector('svg').getBoundingClientRect(); "
        f"return [b.left + f.scales.x({x}), b.top + f.scales.y({y})]; }})()"
    )


@pytest.mark.parametrize(
    "name", [n if n == "kmeans" else pytest.param(n, marks=pytest.mark.slow) for n in PAGES]
)
def test_a_story_is_told_by_keys(firefox, lab, name):
    opened(firefox, lab, name)
    story = page_of(name).story
    for i, scene in enumerate(story):
        firefox.wait(f"state.guided && state.scene === {i} && !state.running")
        firefox.wait(f"document.querySelector('#story h2').textContent.startsWith('{scene.kind}')")
        firefox.press(str(scene.question.answer + 1))
        assert firefox.text("#story .why").startswith("Right. ")
        firefox.press("n")
    assert firefox.run("[...document.querySelectorAll('#formula math')].every("
                       "(m) => m.getBoundingClientRect().width > 5)")  # fmt: skip
    firefox.press("Escape")
    assert firefox.run("state.guided") is False
    assert firefox.complaints == []


def test_a_row_is_dragged(firefox, lab):
    opened(firefox, lab, "kmeans", "step=end")
    before = firefox.run("state.trace.data.X[0]")
    x, y = at(firefox, "rows", *before)
    firefox.pointer((x, y), "down", (x + 30, y - 20), (x + 60, y - 40))
    firefox.wait("state.coarse && !state.running")
    assert firefox.run("state.coarse.frames.length") == 1
    firefox.pointer("up")
    firefox.wait("!state.coarse && !state.running && state.again === null")
    assert firefox.run("state.trace.data.X[0]") != before
    assert firefox.complaints == []


def test_evidence_by_a_click(firefox, lab):
    opened(firefox, lab, "bayesian_network", "step=end")
    place = firefox.run("(() => { const n = document.querySelector('[data-node=Cloudy]'); "
                        "n.scrollIntoView({block: 'center'}); const b = n.getBoundingClientRect(); "
                        "return [b.left + b.width / 2, b.top + b.height / 2]; })()")  # fmt: skip
    firefox.pointer(place, "down", "up")
    firefox.wait("!state.running && state.params.sprinkler_Cloudy === 'yes'")
    assert firefox.complaints == []


def test_a_file_opens_from_the_disk(firefox, tmp_path):
    firefox.open(export("ridge", tmp_path / "ridge.html").as_uri() + "#preset=ridge&step=3")
    assert firefox.text("#place").startswith("3 / ")
    assert firefox.run("document.querySelectorAll('#formula math').length") > 0
    assert firefox.complaints == []
