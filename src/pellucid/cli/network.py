"""``pellucid network FILE``: posteriors and independencies of a Bayesian network."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import Code, Stop, common, console, grid, print_json


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--query", "asked", multiple=True, help="Variable to ask for; may be repeated.")
@click.option(
    "--given",
    "given",
    multiple=True,
    metavar="NAME=STATE",
    help="Observed state, also NAME=STATE,NAME=STATE; a name alone for --d-separated.",
)
@click.option(
    "--do",
    "setting",
    multiple=True,
    metavar="NAME=STATE",
    help="State that is set, not observed: the causes of NAME no longer matter.",
)
@click.option(
    "--d-separated",
    "pair",
    nargs=2,
    metavar="A B",
    help="Whether A and B are independent given the --given variables.",
)
@common("json", "quiet")
def network(
    file: Path,
    asked: tuple[str, ...],
    given: tuple[str, ...],
    setting: tuple[str, ...],
    pair: tuple[str, str] | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a network (.bif, .xmlbif, .net, each also .gz) and answer questions about it.

    Without a question: its variables, parents and sizes. --query gives the posterior of each
    variable (after --do: of the network in which those variables are set), --d-separated an
    independence that the graph proves, or an open path.
    """
    from pellucid.graphical import read_network

    model = read_network(file)
    record: dict[str, Any] = {"file": str(file), **describe(model)}
    if setting:
        record["do"] = evidence(model, setting, "--do", with_states=True)
        model = model.do(record["do"])
    if asked or pair:
        observed = evidence(model, given, "--given", with_states=bool(asked))
        record["given"] = observed
        if asked:
            record["posteriors"] = posteriors(model, asked, observed)
        if pair:
            record["d_separated"] = separation(model, pair, tuple(observed))
    if as_json:
        print_json(record)
    elif not quiet:
        render(record)


def describe(model: Any) -> dict[str, Any]:
    """What the network is made of."""
    variables = [
        {
            "name": name,
            "states": list(cpd.states),
            "parents": list(cpd.parents),
            "cells": int(cpd.values.size),
        }
        for name, cpd in model.cpds_.items()
    ]
    return {
        "variables": variables,
        "edges": len(model.dag_.edges),
        "parameters": model.n_parameters_,
    }


def evidence(
    model: Any, given: tuple[str, ...], option: str, *, with_states: bool
) -> dict[str, Any]:
    """``NAME=STATE`` words as a dict; a state may itself hold a comma or an equals sign."""
    found: dict[str, Any] = {}
    for text in given:
        for name, state in pieces(text, model.states_):
            if with_states and state is None:
                raise Stop(Code.USAGE, f"{option} {name} needs a state: {name}=STATE")
            found[name] = state
    return found


def pieces(text: str, states: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Split at commas that are followed by a known variable.

    >>> pieces("a=x,y,b=1,c", {"a": (), "b": (), "c": ()})
    [('a', 'x,y'), ('b', '1'), ('c', None)]
    """
    parts: list[str] = []
    for word in text.split(","):
        name = word.partition("=")[0].strip()
        if parts and name not in states and "=" in parts[-1]:
            parts[-1] += f",{word}"
        else:
            parts.append(word)
    pairs = (part.partition("=") for part in parts)
    return [(name.strip(), state.strip() if sign else None) for name, sign, state in pairs]


def posteriors(model: Any, asked: tuple[str, ...], observed: dict[str, Any]) -> dict[str, Any]:
    """P(variable | evidence) of each variable asked for."""
    names = [name.strip() for text in asked for name in text.split(",")]
    found = {}
    for name in names:
        share = model.query(name, observed)
        states = map(str, share.scope[name])
        found[name] = dict(zip(states, share.values.tolist(), strict=True))
    return found


def separation(model: Any, pair: tuple[str, str], given: tuple[str, ...]) -> dict[str, Any]:
    """Whether a pair is separated, and an open path if it is not."""
    a, b = pair
    path = model.dag_.active_path(a, b, given)
    return {"a": a, "b": b, "separated": path is None, "path": path}


def arrows(path: list[str], edges: Any) -> str:
    """
    >>> arrows(["a", "b", "c"], {("a", "b"), ("c", "b")})
    'a -> b <- c'
    """
    text = path[0]
    for before, after in pairwise(path):
        text += f" {'->' if (before, after) in edges else '<-'} {after}"
    return text


def render(record: dict[str, Any]) -> None:
    """Print the record for reading."""
    screen = console()
    seen = [n if s is None else f"{n}={s}" for n, s in record.get("given", {}).items()]
    given = ", ".join([*seen, *(f"do({n}={s})" for n, s in record.get("do", {}).items())])
    for name, shares in record.get("posteriors", {}).items():
        screen.print(f"P({name} | {given})" if given else f"P({name})")
        screen.print(
            grid(("", ""), [(f"  {s}", f"{p:.8f}") for s, p in shares.items()], right=(1,)), ""
        )
    if "d_separated" in record:
        found = record["d_separated"]
        edges = {(p, v["name"]) for v in record["variables"] for p in v["parents"]}
        words = "are independent" if found["separated"] else "may depend on each other"
        screen.print(f"{found['a']} and {found['b']} {words}{f' given {given}' if given else ''}")
        if found["path"]:
            screen.print(f"  open path: {arrows(found['path'], edges)}")
    if "given" not in record:
        rows = [
            (v["name"], ", ".join(map(str, v["states"])), ", ".join(v["parents"]), v["cells"])
            for v in record["variables"]
        ]
        screen.print(grid(("variable", "states", "parents", "cells"), rows, right=(3,)), "")
        screen.print(
            f"{len(rows)} variables, {record['edges']} edges, "
            f"{record['parameters']} free parameters"
        )
