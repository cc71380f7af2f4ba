"""``pellucid solve MDP.json``: utilities, action values and the best policy of a known process."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import Code, Stop, check_output, common, console, grid, print_json

METHODS = ("value", "policy", "modified", "linear")
SHOWN = 40  # states in the table on the screen


@click.command()
@click.argument("process", metavar="MDP.json")
@click.option(
    "--gamma", type=click.FloatRange(0, 1), help="Discount, instead of the one in the file."
)
@click.option(
    "--horizon", type=click.IntRange(1), help="Steps: a policy that depends on the time left."
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="Value iteration (default), policy, modified or linear.",
)
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def solve(
    process: str,
    gamma: float | None,
    horizon: int | None,
    method: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Solve the Markov decision process in MDP.json (transitions, a grid or a Gymnasium id).

    Every row of probabilities must sum to 1. With --out the plan is also saved as a model file.
    """
    if horizon is not None and method is not None:
        raise Stop(Code.USAGE, "--horizon is solved by backward induction: leave --method out")
    if out is not None:
        check_output(out, overwrite)
    from pellucid.reinforcement import read_mdp

    path = Path(process)
    if not path.exists() or path.is_dir():
        what = f"{process} is a folder" if path.is_dir() else f"there is no file {process}"
        raise Stop(Code.DATA, what)
    try:
        mdp = read_mdp(path, discount=gamma)
    except ValueError as error:
        named = str(error).startswith(str(path))  # the sentence begins with the file already
        raise Stop(Code.DATA, str(error) if named else f"{process}: {error}") from error
    method = method or "value"
    model = planner(method, horizon, seed).fit(mdp)
    if out is not None:
        from pellucid import save

        save(model, out)
    record = plan(mdp, model, method)
    if as_json:
        print_json(record)
    elif not quiet:
        show(record)


def planner(method: str, horizon: int | None, seed: int) -> Any:
    """The model of a method's name."""
    from pellucid import reinforcement as families

    if horizon is not None:
        return families.FiniteHorizon(horizon)
    return {
        "value": families.ValueIteration(tol=1e-10, max_iter=100_000),
        "policy": families.PolicyIteration(random_state=seed),
        "modified": families.PolicyIteration(evaluation=20, random_state=seed),
        "linear": families.LinearProgramming(),
    }[method]


def plan(mdp: Any, model: Any, method: str) -> dict[str, Any]:
    """What was found, by name. An action value of null: not available."""
    import numpy as np

    timed = model.policy_.ndim == 2
    record: dict[str, Any] = {
        "schema": "pellucid-plan/1",
        "method": "horizon" if timed else method,
        "discount": mdp.discount,
        "states": list(mdp.states),
        "actions": list(mdp.actions),
        "terminal": [mdp.states[s] for s in np.flatnonzero(mdp.terminal)],
        "values": model.values_,
        "q": mdp.q_values(model.values_[-2]) if timed else model.q_,
    }
    tables = np.atleast_2d(model.policy_)
    named = [
        [None if mdp.terminal[s] else mdp.actions[a] for s, a in enumerate(row)] for row in tables
    ]
    record["policy"] = named if timed else named[0]
    if timed:
        return record | {"horizon": len(tables)}
    return record | {"n_iter": model.n_iter_, "error_bound": model.error_bound_}


def show(record: dict[str, Any]) -> None:
    """A line per state: utility, best action, the value of every action."""
    import numpy as np

    screen = console()
    timed = record["method"] == "horizon"
    U = np.asarray(record["values"])[-1] if timed else record["values"]
    best = record["policy"][-1] if timed else record["policy"]
    how = f"{record['horizon']} steps to go" if timed else f"{record['n_iter']} iterations"
    screen.print(
        f"{len(best)} states, {len(record['actions'])} actions, discount "
        f"{record['discount']:g}; {record['method']}, {how}"
    )
    screen.print()
    rows = [
        (
            _name(state),
            f"{U[s]:.6g}",
            "end" if best[s] is None else _name(best[s]),
            *("-" if np.isneginf(q) else f"{q:.6g}" for q in record["q"][s]),
        )
        for s, state in enumerate(record["states"][:SHOWN])
    ]
    heads = ("state", "utility", "action", *(f"Q {_name(a)}" for a in record["actions"]))
    screen.print(grid(heads, rows, right=[1, *range(3, len(heads))]))
    if len(best) > SHOWN:
        screen.print(f"... and {len(best) - SHOWN} more states (--json prints all)")


def _name(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
