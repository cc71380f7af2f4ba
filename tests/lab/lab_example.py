"""A small page of the lab with every kind of panel and mark, for the tests of its front end."""

import numpy as np

from pellucid.lab import scene
from pellucid.lab.page import Control, LabData, Page, Preset, Question, hold_out
from pellucid.lab.stories import Scene
from pellucid.lab.trace import Frame, Trace

NASTY = '</script><img src=x onerror=alert(1)>\u2028 & "quotes" <!-- \'{{ 7 * 7 }}'
BOX = (-2.0, 2.0, -2.0, 2.0)


def rows(rng):
    X = np.round(rng.uniform(-1.5, 1.5, size=(20, 2)), 3)
    return LabData(X, (X[:, 0] > 0).astype(int), hold_out(20, 0))


def example_trace(text="step", rate=0.1, data=None, n_frames=5):
    """Gradient descent on w^2 / 2 from w = 1, drawn in every way that there is."""
    data = rows(np.random.default_rng(0)) if data is None else data
    x, y, cells = scene.lattice(BOX, 24)
    bowl = (cells**2).sum(axis=1).reshape(24, 24)
    frames, w = [], 1.0
    for k in range(n_frames):
        new = w - rate * w
        panels = [
            scene.plane("data", [
                scene.regions((cells[:, 0] > w).reshape(24, 24), BOX),
                scene.line([w, w, np.nan, -1, 1], [-2, 2, 0, 1, 1], label=f"{text} line"),
                scene.text([0, 1.9], [0, 0], [f"{text} {k}", text]),
                scene.circles([0], [0], [1.0], label=text),
                scene.segments([0], [0], [w], [1], arrow=True),
            ]),
            scene.plane("weights", [
                scene.heat(bowl, BOX), scene.contours(x, y, bowl, [1.0]),
                scene.bars([-1, 1], [w, -w], colour=[0, 1], label="bars"),
                scene.band([-2, 2], [-1, -1], [1, 1], label="band"), scene.rule(x=w, label="rule"),
            ], title=text, x=text, y=text, equal=True, alt=text),
            scene.graph("graph", [
                {"x": 0, "y": 1, "label": f"{text}\ntwo lines", "lit": k == 1},
                {"x": 1, "y": 0, "label": "b", "round": True, "shade": 0.5, "colour": 1},
            ], [{"source": 0, "target": 1, "label": text}, {"source": 1, "target": 0},
                {"source": 1, "target": 1, "dashed": True}], title=text, alt=text),
            scene.table("table", [text, "value"], [[text, w], ["b", None]], lit=[(0, 1)],
                        lit_rows=[1], title=text),
        ]  # fmt: skip
        formula = f"{text} {k}: w ← {w:.3f} − {rate} · {w:.3f} = {new:.3f}"
        frames.append(Frame(k, w * w / 2, abs(w), formula, {f"w {text}": w, "note": text},
                            {"panels": panels}, held_out=w * w / 2 + 0.1))  # fmt: skip
        w = new
    points = scene.points(data.X[:, 0], data.X[:, 1], group=data.y, faint=data.held_out, data=True,
                          ring=np.arange(len(data.X)) == 0, label=text)  # fmt: skip
    shown = {"kind": "classes", "X": data.X, "y": data.y, "names": [text, "x2"],
             "held_out": data.held_out,
             "panels": [scene.plane("data", [points], title=text, x="x1", y="x2", box=BOX,
                                    alt=text)]}  # fmt: skip
    card = {"representation": text, "evaluation": text, "optimisation": text, "numbers": {"n": 20}}
    return Trace(text, {"rate": rate}, shown, card, tuple(frames), title=text, objective=text,
                 verdict=text, code=f"# {text}\nmodel = 1")  # fmt: skip


def example_page(text="step"):
    def run(data, params, seed):
        if params["rate"] == 3.0:
            raise ValueError("a rate of 3 is not for this page")
        return example_trace(text, params["rate"], data, 5 if params["method"] == "plain" else 8)

    controls = (
        Control("method", text, "choice", "plain", options=("plain", text + "!")),
        Control("rate", text, "number", 0.1, 0.001, 3.0, log=True),
        Control("most", text, "integer", 3, 1, 9, only={"method": ("plain",)}),
        Control("scale", f"{text}, with a name as long as they are in this lab", "switch", True),
    )
    other = f"other {text}"
    presets = (Preset(text, text, {}, rows), Preset(other, text, {"rate": 2.5}, rows, broken=True))
    story = (
        Scene("Look", text, 0, 2, text, Question(text + "?", (text, "b", "c"), 1, text), "True"),
        Scene("Predict", text, 2, -1, "w {w step}, {0: J}", Question("second", ("a", "b"), 0, text),
              "True"),
        Scene("Break", other, 0, -1, text, Question("third", ("a", "b"), 0, text), "True"),
    )  # fmt: skip
    page = Page("newton", text, text, "classes", controls, presets, run, story=story)
    return page._replace(symbols={"w": f"{text} line"}, related=("kmeans",))
