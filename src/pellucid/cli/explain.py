"""``pellucid explain MODEL [DATA]``: why a saved model says what it says."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.audit import short
from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_output,
    common,
    console,
    grid,
    print_json,
    say,
    sentence,
)
from pellucid.cli.shared.tables import (
    answering,
    check_columns,
    load_model,
    need_columns,
    read_table,
)

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS, BAR = 20, 24  # of a table on the terminal; the widest bar
MOST_RULES, MOST_POINTS = 30, 9


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", required=False)
@click.option("--target", "targets", multiple=True, help="Column with the answers.")
@click.option("--row", type=int, metavar="N", help="Explain row N of DATA; the first is 0.")
@click.option("--feature", metavar="COL", help="Show how the prediction moves with this column.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
)
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def explain(
    model: Path,
    data: str | None,
    targets: tuple[str, ...],
    row: int | None,
    feature: str | None,
    form: str,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Explain MODEL: what it is, what it looks at, how its answers move, why it said what of a row.

    With DATA that holds the answers, importance is measured by shuffling columns; use rows the
    model has not learned from. --format html needs --out.
    """
    form = "json" if as_json else form
    if out is not None:
        check_output(out, overwrite)
    if form == "html" and out is None:
        raise click.UsageError("a page goes to a file: give --out FILE.html")
    if row is not None and data is None:
        raise click.UsageError("--row N is a row of DATA: give the table too")
    fitted = load_model(model)
    with answering(model):
        found = ask(fitted, data, sql, targets, row, feature, seed)
    record = found.to_dict()
    if out is not None:
        write(record, model, form, out)
    if form == "json" and out is None:
        print_json(record)
    elif form == "text" and not quiet and out is None:
        show(record, model, only=(row is not None, feature is not None))
    elif out is not None and not quiet:
        say(out, err=True)


def ask(
    fitted: Any,
    data: str | None,
    sql: str | None,
    targets: tuple[str, ...],
    row: int | None,
    feature: str | None,
    seed: int,
) -> Any:
    """The explanation, or one sentence about what is wrong with the data."""
    from pellucid.data.sql import without_password
    from pellucid.study.errors import nearest
    from pellucid.study.saved.explanation import explain_model, machine_of
    from pellucid.study.saved.prediction import needed_columns

    columns = machine_of(fitted).columns
    if feature is not None and feature not in columns:
        raise Stop(Code.DATA, nearest("column of the model", feature, columns))
    frame = None if data is None else read_table(data, sql)
    shown = "" if data is None else without_password(data)
    if frame is not None:
        if frame.height == 0:
            raise Stop(Code.TASK, f"{shown} has no rows")
        check_columns(frame, targets)
        need_columns(needed_columns(fitted) or columns, frame.columns)
        if row is not None and not 0 <= row < frame.height:
            text = f"--row is from 0 to {frame.height - 1} for {shown}, got {row}"
            raise click.UsageError(text)
    try:
        return explain_model(
            fitted, frame, target=list(targets) or None, row=row, feature=feature, random_state=seed
        )
    except (ValueError, TypeError) as error:
        text = f"{shown}: {sentence(error)}" if shown else sentence(error)
        raise Stop(Code.DATA, text) from error


def write(record: dict[str, Any], model: Path, form: str, out: Path) -> None:
    """The page, the JSON or the text as a file."""
    import json

    from pellucid.core.visible import visible
    from pellucid.report.writing import write_text

    if form == "html":
        from pellucid.report.explanation import render_explanation

        text = render_explanation(record, model.name)
    elif form == "json":
        text = visible(json.dumps(record, ensure_ascii=False, allow_nan=False))
    else:
        screen = console()
        with screen.capture() as caught:
            draw(screen, record, model, (False, False))
        text = caught.get()
    write_text(out, text)


def show(record: dict[str, Any], model: Path, only: tuple[bool, bool]) -> None:
    draw(console(), record, model, only)


def draw(screen: "Console", record: dict[str, Any], model: Path, only: tuple[bool, bool]) -> None:
    """Everything; with --row or --feature that alone."""
    screen.print(headline(record["about"], model))
    row, feature = only
    if record["contributions"] is not None and (row or not feature):
        show_row(screen, record["contributions"])
    if not any(only):
        show_card(screen, record["card"])
        show_summary(screen, record["summary"])
        show_importance(screen, record)
    if feature or not row:
        for curve in record["dependence"]:
            show_curve(screen, curve)
    if not any(only):
        show_rules(screen, record["rules"])


def headline(about: dict[str, Any], model: Path) -> str:
    if not about:
        return short(model, 60)
    score, metric = about["score"], about["metric"].replace("_", " ")
    target = ", ".join(short(name, 40) for name in about["target"])
    figures = f"{metric} {number(score['estimate'])}"
    if score["low"] is not None:
        figures += f" ({' to '.join(ends(score['low'], score['high']))})"
    text = f"{short(model, 40)}: {about['name']} for {target}; "
    tested = about.get("tested")
    if tested is None or about["learned"] <= tested["learned"]:
        return f"{text}{figures} in its study"
    return (
        f"{text}learned from all {about['learned']:,} rows. Learned from {tested['learned']:,} of "
        f"them (tested.pellucid) it had {figures} on the other {tested['on']:,}"
    )


def ends(low: float | None, high: float | None) -> tuple[str, str]:
    """Both ends of an interval, told apart."""
    from pellucid.core.figures import told_apart

    return told_apart(low, high, number, 4)


def number(value: object, digits: int = 4) -> str:
    """Four digits, or as many; a dash for what is missing.

    >>> number(3.14159265), number(None), number(12)
    ('3.142', '-', '12')
    """
    from pellucid.core.figures import figures

    return figures(value, digits, whole=(10.0 ** (digits - 1), 1e9), commas=1e4)


def heading(screen: "Console", text: str) -> None:
    from rich.text import Text

    screen.print()
    screen.print(Text(text, style="bold"))


def show_card(screen: "Console", card: dict[str, Any]) -> None:
    rows = [(name, words(text)) for name, text in card.items() if text]
    if rows:
        heading(screen, "What it is")
        screen.print(grid(("", ""), rows))


def words(value: object) -> str:
    """
    >>> words({"alpha": 0.273, "df": 10.875392}), words(["a", "b"])
    ('alpha = 0.273, df = 10.88', 'a; b')
    """
    if isinstance(value, dict):
        return ", ".join(f"{name} = {number(one)}" for name, one in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def show_summary(screen: "Console", summary: dict[str, Any] | None) -> None:
    if summary is None:
        return
    heading(screen, "Coefficients")
    wanted = ("name", "estimate", "standard_error", "p_value", "low", "high")
    at = [j for j, name in enumerate(summary["columns"]) if name in wanted]
    at = [j for j in at if j == 0 or any(row[j] is not None for row in summary["rows"])]
    names = [summary["columns"][j].replace("_", " ") for j in at]
    rows = [(short(row[0], 40), *(number(row[j]) for j in at[1:])) for row in summary["rows"]]
    if rows:
        screen.print(grid(names, rows[:MOST_ROWS], right=range(1, len(names))))
    if len(rows) > MOST_ROWS:
        screen.print(f"and {len(rows) - MOST_ROWS} more; --json has them all", style="dim")
    if not summary["valid"] and summary["reason"]:
        screen.print(f"Not valid for inference: {summary['reason']}", style="dim")


def show_importance(screen: "Console", record: dict[str, Any]) -> None:
    found, own = record["importance"], record["model_importance"]
    if found is None and own is None:
        return
    heading(screen, "What it looks at")
    shares = {} if own is None else {one["name"]: one["share"] for one in own["rows"]}
    if found is None:
        most = max(shares.values())
        cells = [(short(name, 30), number(one), bar(one, most)) for name, one in shares.items()]
        screen.print(grid(("column", "share", ""), cells[:MOST_ROWS], right=(1,)))
        screen.print(f"share: {own['kind']}", style="dim")
        return
    most = max([one["estimate"] for one in found] + [1e-300])
    rows = [
        (
            short(one["name"], 30),
            number(one["estimate"]),
            *ends(one["low"], one["high"]),
            number(shares.get(one["name"])),
            bar(one["estimate"], most),
        )
        for one in found
    ]
    columns = ("column", "loss", "low", "high", "share", "")
    screen.print(grid(columns, rows[:MOST_ROWS], right=(1, 2, 3, 4)))
    metric = record["metric"].replace("_", " ")
    text = f"loss: of {metric} when the column is shuffled"
    screen.print(text + (f"; share: {own['kind']}" if own else ""), style="dim")
    if record["met"]:
        screen.print(
            f"The model has learned from {100 * record['met']:.0f} % of these rows: they flatter "
            "the columns it leans on.",
            style="yellow",
        )


def bar(value: float, most: float) -> str:
    """
    >>> bar(1.0, 2.0)
    '████████████'
    """
    share = value / most if most > 0 and value > 0 else 0.0
    return "█" * round(BAR * min(share, 1.0))


def thinned(n: int) -> list[int]:
    """At most MOST_POINTS places, the first and the last among them.

    >>> thinned(15)
    [0, 2, 4, 5, 7, 9, 10, 12, 14]
    """
    k = min(n, MOST_POINTS)
    return [round(i * (n - 1) / (k - 1)) for i in range(k)] if k > 1 else list(range(n))


def show_curve(screen: "Console", curve: dict[str, Any]) -> None:
    """A dependence curve as a table with bars between its least and greatest value."""
    heading(screen, f"{short(curve['output'], 50)} as {short(curve['name'], 40)} changes")
    low, high = min(curve["mean"]), max(curve["mean"])
    spread = high - low
    rows = []
    for i in thinned(len(curve["values"])):
        value, mean = curve["values"][i], curve["mean"][i]
        band = ""
        if curve["low"] is not None:
            band = " – ".join(ends(curve["low"][i], curve["high"][i]))
        size = (mean - low) / spread if spread > 0 else 0.0
        rows.append((short(number(value), 24), number(mean), band, bar(0.04 + 0.96 * size, 1.0)))
    columns = (short(curve["name"], 24), "mean", "80 % of rows", "")
    at = (0, 1, 3) if curve["low"] is None else (0, 1, 2, 3)
    first = 0 if curve["kind"] == "number" else 1
    shown = [tuple(row[j] for j in at) for row in rows]
    screen.print(grid([columns[j] for j in at], shown, right=range(first, len(at) - 1)))


def show_row(screen: "Console", found: dict[str, Any]) -> None:
    """From the mean prediction to this one, column by column."""
    heading(
        screen, f"Row {found['row']}: {short(found['output'], 60)} {number(found['prediction'])}"
    )
    most = max([abs(one["part"]) for one in found["parts"]] + [1e-300])
    rows = [("mean prediction", "", number(found["base"]), "")]
    for one in found["parts"][:MOST_ROWS]:
        sign = "+" if one["part"] >= 0 else "-"
        value = short(number(one["value"]) if one["value"] is not None else "(missing)", 24)
        rows.append(
            (
                short(one["name"], 30),
                value,
                f"{sign}{number(abs(one['part']))}",
                bar(abs(one["part"]), most),
            )
        )
    rest = sum(one["part"] for one in found["parts"][MOST_ROWS:])
    if len(found["parts"]) > MOST_ROWS:
        rows.append((f"{len(found['parts']) - MOST_ROWS} others", "", f"{rest:+.4g}", ""))
    rows.append(("this row", "", number(found["prediction"]), ""))
    screen.print(grid(("column", "value", "moves it by", ""), rows, right=(1, 2)))


def show_rules(screen: "Console", found: dict[str, Any] | None) -> None:
    if found is None:
        return
    heading(screen, "Its rules")
    from rich.text import Text

    for rule in found["rules"][:MOST_RULES]:
        line = Text("if " + " and ".join(rule["when"]) if rule["when"] else "always")
        line.append(f": {short(rule['then'], 40)}", style="bold")
        line.append(f"  ({rule['rows']:,.0f} rows)", style="dim")
        screen.print(line)
    if len(found["rules"]) > MOST_RULES:
        screen.print(f"and {len(found['rules']) - MOST_RULES} more; --json has them all")
