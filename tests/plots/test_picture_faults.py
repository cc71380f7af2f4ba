"""No picture of an example has text that is small, cut off or struck, or a legend over its points.

``python tests/helpers/picture_faults.py --out FOLDER`` prints the faults and saves the pictures.
"""

import itertools
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from picture_faults import DEEP, NAMES, ROOM, drawn, faults, pictures

from pellucid import LinearDiscriminantAnalysis, Perceptron
from pellucid.plots import boundary, discriminant_projection
from pellucid.plots.panels import style
from pellucid.plots.panels.style import colour, legend, marker

SHARE = [name for name in NAMES if name not in DEEP][::20]  # of make test


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def found(name):
    seen = []
    for picture in pictures(name):
        for small in (False,) if name in ROOM else (False, True):
            figure = drawn(picture, small)
            seen += [] if figure is None else faults(figure)
            plt.close("all")
    return seen


@pytest.mark.parametrize("name", SHARE)
def test_a_share_of_the_pictures_has_no_fault(name):
    assert found(name) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(NAMES) - set(DEEP) - set(SHARE)))
def test_no_picture_has_a_fault(name):
    assert found(name) == []


def cloud(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X @ [1.0, -1.0] + 0.6 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.filterwarnings("ignore:Perceptron. mistakes")
def test_steps_share_one_legend_below_the_panels():
    X, y = cloud()
    model = Perceptron(max_iter=5, tol=None).fit(X, y)
    figure = boundary(model, X, y, steps=3).plot()
    assert all(ax.get_legend() is None for ax in figure.axes)
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["0", "1", "wrong", "boundary"]


def test_a_legend_leaves_the_points_of_a_full_plane_alone():
    X, y = cloud(400)
    model = LinearDiscriminantAnalysis().fit(X, y)
    figure = drawn(discriminant_projection(model, X, y))
    assert [fault for fault in faults(figure) if fault.startswith("legend")] == []


def test_no_two_classes_look_alike():
    assert len({(colour(i), marker(i)) for i in range(56)}) == 56


def test_a_fault_is_found():
    figure = plt.figure(figsize=(3, 2))
    ax = figure.add_subplot()
    ax.text(0.5, 0.5, "tiny", fontsize=4)
    ax.text(0.5, 0.5, "struck")
    ax.text(0.9, 0.2, "cut off at the edge of the figure", clip_on=False)
    ax.scatter(np.full(9, 0.9), np.full(9, 0.9), label="points")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper right")
    figure.canvas.draw()
    kinds = {fault.partition(":")[0] for fault in faults(figure)}
    assert kinds == {"small", "outside", "overlap", "legend"}


def test_ten_groups_have_shapes_of_their_own():
    assert len({marker(i) for i in range(10)}) == 10
    assert len({(colour(i), marker(i)) for i in range(20)}) == 20


def test_a_legend_says_nothing_about_a_slow_machine(monkeypatch):
    """Matplotlib warns where a place that nobody named takes a second to find."""
    clock = itertools.count(step=10.0)
    monkeypatch.setattr("matplotlib.legend.time.perf_counter", lambda: next(clock))
    figure, ax = plt.subplots()
    ax.plot([0.0, 1.0], [1.0, 0.0], label="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        legend(ax)
        figure.canvas.draw()
    plt.close(figure)
    for path in Path(style.__file__).parents[1].rglob("*.py"):
        for call in re.findall(r"\.legend\(([^*].*?)\)$", path.read_text(), re.M | re.S):
            assert "loc=" in call, path
