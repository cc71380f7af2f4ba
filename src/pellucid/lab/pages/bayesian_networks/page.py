"""Bayesian networks: tables, evidence, d-separation, counts and EM."""

import warnings
from collections.abc import Iterator
from typing import Any

from pellucid.lab.controls import Control, choice, counter, slider, switch
from pellucid.lab.page import LabData, given, make_page, read_presets
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
    with warnings.catch_warnings(action="ignore"):  # the verdict says what went wrong
        return METHODS[params["method"]](case, params, seed)


def _controls() -> Iterator[Control]:
    """For every network its question and its evidence, shown while it is chosen."""
    known, ends = ("evidence", "d-separation", "counts"), "Other end of the paths"
    for name, nodes in PLACES.items():
        yield choice(f"{name}_query", "Question about", nodes, ASKED[name], network=name)
        yield choice(f"{name}_from", ends, nodes, FROM[name], network=name, method="d-separation")
        for node in nodes:
            options = ("unknown", "yes", "no")
            yield choice(f"{name}_{node}", node, options, network=name, method=known)


SUMMARY = """
A graph of causes with a table at every node. Evidence flows along open paths, in both directions;
the tables are counted, or found by EM where cells are missing.
"""
CONTROLS = (
    choice("method", "View", METHODS),
    choice("network", "Network", PLACES),
    *_controls(),
    counter("rows", "Rows to learn from", 80, 10, 200, 10, method=LEARNED),
    slider("alpha", "Imaginary rows per cell α", 1.0, 0.0, 5.0, 0.1, method=LEARNED),
    slider("share", "Share of cells missing", 0.3, 0.05, 0.5, 0.05, method="EM"),
    switch("hidden", "One variable is never seen", method="EM"),
)
PRESETS = read_presets(
    """
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
! Break it: never seen | Cloudy is never seen in any row: EM makes up a cause that explains the
    rest, and may give its two states each other's names.
One imaginary row in every cell | The same 80 rows with α = 1.
""",
    given(sprinkler_Wet="yes", sprinkler_Rain="yes"),
    given(network="earthquake", earthquake_JohnCalls="yes", earthquake_MaryCalls="yes"),
    given(
        method="d-separation",
        network="asia",
        asia_query="dysp",
        asia_from="asia",
        asia_either="yes",
    ),
    given(method="counts", rows=200, sprinkler_Wet="yes"),
    given(method="EM", rows=150, alpha=0.0, sprinkler_query="Rain"),
    given(method="d-separation", network="earthquake", earthquake_Alarm="yes"),
    given(
        method="counts",
        network="earthquake",
        alpha=0.0,
        rows=80,
        earthquake_JohnCalls="yes",
        earthquake_MaryCalls="yes",
    ),
    given(method="EM", rows=150, alpha=0.0, hidden=True, sprinkler_query="Rain"),
    given(
        method="counts",
        network="earthquake",
        alpha=1.0,
        rows=80,
        earthquake_JohnCalls="yes",
        earthquake_MaryCalls="yes",
    ),
)
PAGE = make_page("bayesian_networks", "none", run, SUMMARY, CONTROLS, PRESETS)
