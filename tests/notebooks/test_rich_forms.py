"""Records are short as text, whole and safe as HTML; pictures and steps show themselves."""

import importlib
import inspect
import re

import numpy as np
import pytest

import pellucid
from pellucid import KMeans, LinearRegression, Perceptron
from pellucid.core.readable import MOST
from pellucid.graphical import CPT
from pellucid.lab import record
from pellucid.plots import boundary, scatter
from pellucid.reinforcement import MDP

UNREAL = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError)
EVIL = "</td><script>alert(1)</script>"
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X @ [1.0, -1.0] > 0.2).astype(int)


def records():
    """Every public record of the library, by its full name."""
    found = {}
    for name in pellucid._PACKAGES:
        module = importlib.import_module(f"pellucid.{name}")
        for public in module.__all__:
            if name == "deep":
                continue
            value = getattr(module, public)
            kind = inspect.isclass(value) and (value.__module__ or "").startswith("pellucid")
            fields = hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__")
            if kind and fields:
                found[f"{value.__module__}.{value.__name__}"] = value
    return found


def filled(cls, value):
    """A record with the same value in all fields, made past its constructor."""
    if hasattr(cls, "_fields"):
        return tuple.__new__(cls, [value] * len(cls._fields))
    made = object.__new__(cls)
    for name in cls.__dataclass_fields__:
        object.__setattr__(made, name, value)
    return made


@pytest.mark.parametrize("name", sorted(records()))
def test_no_text_form_is_long(name):
    cls = records()[name]
    assert hasattr(cls, "_repr_html_") or hasattr(cls, "_repr_mimebundle_"), "no form for notebooks"
    long = filled(cls, rng.normal(size=300))
    try:
        text = repr(long)
    except UNREAL:
        return  # its words need real values: the forms below, and its own tests
    assert len(text) <= MOST


@pytest.mark.parametrize("name", sorted(records()))
def test_every_html_form_is_escaped(name):
    cls = records()[name]
    if not hasattr(cls, "_repr_html_"):
        return
    try:
        html = filled(cls, EVIL)._repr_html_()
    except UNREAL:
        return
    assert "<script>" not in html
    assert not re.search(r"(src|href)=.?(https?:)?//", html)


def samples():
    model = LinearRegression().fit(X, X @ [1.0, 2.0] + rng.normal(size=60))
    groups = KMeans(3, random_state=0).fit(X)
    return {
        "card": model.card(),
        "summary": model.summary(),
        "wide summary": LinearRegression().fit(rng.normal(size=(60, 30)), y).summary(),
        "history": groups.history_,
        "CPT": CPT(
            "wet", np.full((3, 4, 5, 2), 0.5), parents=["a", "b", "<b>"], states=["no", EVIL]
        ),
        "MDP": MDP(np.full((20, 3, 20), 0.05), np.zeros(20), states=[f"<i>{i}" for i in range(20)]),
        "trace": record(KMeans(2, random_state=0, max_iter=3), X),
    }


@pytest.mark.parametrize("name", list(samples()))
@pytest.mark.filterwarnings("ignore:no convergence")
def test_real_records(name):
    value = samples()[name]
    assert len(repr(value)) <= MOST
    html = value._repr_html_()
    assert html.startswith("<")
    assert EVIL not in html
    assert "<i>" not in html
    assert not re.search(r"(src|href)=\"(https?:)?//", html)


def test_a_picture_is_its_alt_text_and_shows_itself():
    picture = scatter(X, y)
    assert repr(picture) == f"<Scatter: {picture.alt}>"
    forms = picture._repr_mimebundle_()
    assert forms["text/html"].startswith(f'<img alt="{picture.alt}" src="data:image/png;base64,')
    assert set(forms) == {"text/plain", "text/html", "image/png"}


def test_steps_have_a_player(tmp_path):
    steps = boundary(Perceptron().fit(X, y), X, y, steps=3)
    assert len(repr(steps)) <= MOST
    frame = steps._repr_mimebundle_()["text/html"]
    assert frame.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in frame
    page = steps.animate(tmp_path / "a.html").read_text()
    assert page.count("data:image/png;base64,") == len(steps.pictures) + 1
    assert "default-src 'none'" in page
    assert not re.search(r"https?://", page)
    for word in ("Play", "ArrowRight", 'type="range"', "aria-live"):
        assert word in page
    assert steps.animate(tmp_path / "a.gif").stat().st_size > 1000
    with pytest.raises(ValueError, match=r"\.gif or \.html or name a folder"):
        steps.animate(tmp_path / "a.mp4")
