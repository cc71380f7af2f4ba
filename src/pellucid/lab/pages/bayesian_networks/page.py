"""Bayesian networks: tables, evidence, d-separation, counts and EM."""

import warnings
from typing import Any

from pellucid.lab.page import Control, LabData, Page, read_presets, read_questions
from pellucid.lab.pages.bayesian_networks.asking import evidence_trace, separation_trace
from pellucid.lab.pages.bayesian_networks.learning import counts_trace, em_trace
from pellucid.lab.pages.bayesian_networks.parts import PLACES, make_case
from pellucid.lab.trace import Trace

METHODS = {
    "evidence": evidence_trace,
    "d-separation": separation_trace,
    "counts": counts_trace,
    "EM": em_trace,
}
ASKED = {"sprinkler": "Sprinkler", "earthquake": "Burglary", "asia": "lung"}
FROM = {"sprinkler": "Rain", "earthquake": "Earthquake", "asia": "asia"}
LEARNED = ("counts", "EM")


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method."""
    case = make_case(params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict says what went wrong
        return METHODS[params["method"]](case, params, seed)


FOR_ROWS = {"method": LEARNED}
FOR_SHARE = {"method": ("EM",)}


def _controls() -> tuple[Control, ...]:
    """For every network its question and its evidence, shown while it is chosen."""
    found = []
    for name, places in PLACES.items():
        only = {"network": (name,)}
        nodes = tuple(places)
        found.append(
            Control(
                f"{name}_query", "Question about", "choice", ASKED[name], options=nodes, only=only
            )
        )
        label, shown_only = "Other end of the paths", only | {"method": ("d-separation",)}
        found.append(
            Control(f"{name}_from", label, "choice", FROM[name], options=nodes, only=shown_only)
        )
        found += [
            Control(
                f"{name}_{node}",
                node,
                "choice",
                "unknown",
                options=("unknown", "yes", "no"),
                only={**only, "method": ("evidence", "d-separation", "counts")},
            )
            for node in nodes
        ]
    return tuple(found)


QUESTIONS = """
? The grass is wet, so the sprinkler was probably on. Then you hear that it rained. What happens to
your belief in the sprinkler?
(_) it rises (x) it falls (_) it stays
= Rain and sprinkler meet head to head in the wet grass. Once that is observed, each cause explains
it, and the other is needed less: explaining away.
? A table learned from 80 rows has the probability 0 for an event that never occurred in them. A
thousand pieces of evidence speak for the event. Its posterior is
(_) close to 1 (x) 0 (_) one half
= Bayes' rule multiplies. A prior or a cell of exactly 0 stays 0, whatever comes after; imaginary
rows keep every cell above 0.
"""
PRESETS = """
Evidence | The grass is wet, then it turns out that it rained: the sprinkler is explained away.
Alarm | John calls, Mary calls, and how likely is a burglary after each?
d-separation | Two paths join a visit to Asia and shortness of breath. Observing that there is
    either disease closes the short one and opens the detour over smoking.
Counts | Tables from more and more rows, with one imaginary row in every cell.
EM | A third of the cells is missing: expected counts instead of counts.
! Break it: collider observed | Burglary and earthquake are independent: the only path meets head to
    head in the alarm and is blocked. Observing the alarm opens it, and each of them now speaks
    against the other.
! Break it: zero CPT cell | Counts without imaginary rows: what was never seen gets probability 0,
    and no evidence can revive it, since 0 times anything is 0. New rows become impossible. Give α >
    0.
"""
PAGE = Page(
    name="bayesian_networks",
    title="Bayesian networks",
    summary=(
        "A graph of causes with a table at every node. Evidence flows along open paths, in both "
        "directions; the tables are counted, or found by EM where cells are missing."
    ),
    kind="none",
    controls=(
        Control("method", "View", "choice", "evidence", options=tuple(METHODS)),
        Control("network", "Network", "choice", "sprinkler", options=tuple(PLACES)),
        *_controls(),
        Control(
            "rows",
            "Rows to learn from",
            "integer",
            80,
            low=10,
            high=200,
            step=10,
            only=FOR_ROWS,
        ),
        Control(
            "alpha",
            "Imaginary rows per cell α",
            "number",
            1.0,
            low=0.0,
            high=5.0,
            step=0.1,
            only=FOR_ROWS,
        ),
        Control(
            "share",
            "Share of cells missing",
            "number",
            0.3,
            low=0.05,
            high=0.5,
            step=0.05,
            only=FOR_SHARE,
        ),
        Control("hidden", "One variable is never seen", "switch", False, only={"method": ("EM",)}),
    ),
    presets=read_presets(
        PRESETS,
        ({"sprinkler_Wet": "yes", "sprinkler_Rain": "yes"}, None),
        (
            {"network": "earthquake", "earthquake_JohnCalls": "yes", "earthquake_MaryCalls": "yes"},
            None,
        ),
        (
            {
                "method": "d-separation",
                "network": "asia",
                "asia_query": "dysp",
                "asia_from": "asia",
                "asia_either": "yes",
            },
            None,
        ),
        ({"method": "counts", "rows": 200, "sprinkler_Wet": "yes"}, None),
        ({"method": "EM", "rows": 150, "alpha": 0.0, "sprinkler_query": "Rain"}, None),
        ({"method": "d-separation", "network": "earthquake", "earthquake_Alarm": "yes"}, None),
        (
            {
                "method": "counts",
                "network": "earthquake",
                "alpha": 0.0,
                "rows": 80,
                "earthquake_JohnCalls": "yes",
                "earthquake_MaryCalls": "yes",
            },
            None,
        ),
    ),
    questions=read_questions(QUESTIONS),
    run=run,
)
