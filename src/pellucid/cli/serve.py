"""``pellucid serve MODEL``: a saved model behind HTTP."""

import os
from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import Code, Stop, common, print_json, say

TOKEN = "PELLUCID_TOKEN"


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port; 0 takes a free one.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, help="Processes on the port.")
@click.option("--max-bytes", type=click.IntRange(1), help="Largest request.")
@click.option("--max-rows", type=click.IntRange(1), help="Most rows of a request.")
@click.option("--max-seconds", type=float, help="Longest time for an answer.")
@click.option("--max-waiting", type=float, help="Longest time to send a request or read it.")
@click.option("--max-concurrent", type=click.IntRange(1), help="Most requests at a time.")
@click.option("--max-connections", type=click.IntRange(1), help="Most open connections.")
@common("json", "quiet", "threads")
def serve(
    model: Path,
    host: str,
    port: int,
    workers: int,
    max_bytes: int | None,
    max_rows: int | None,
    max_seconds: float | None,
    max_waiting: float | None,
    max_concurrent: int | None,
    max_connections: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer rows with the predictions of MODEL over HTTP, until Ctrl-C or SIGTERM.

    POST /predict takes JSON or an Arrow stream; /schema, /card, /drift, /openapi.json and /health
    tell the rest. Where the variable PELLUCID_TOKEN is set, clients must send it.
    """
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # for few rows more threads only cost switches
    from pellucid.cli.shared.start import start_sklearn

    start_sklearn()
    from pellucid.persist import ModelFileError
    from pellucid.serve.records import Limits
    from pellucid.serve.running import is_loopback
    from pellucid.serve.running import serve as start

    token = os.environ.get(TOKEN) or None
    if token is None and not is_loopback(host) and not quiet:
        say(f"pellucid: note: {TOKEN} is not set: whoever reaches {host} may ask", err=True)
    given: dict[str, Any] = {
        "body": max_bytes,
        "rows": max_rows,
        "seconds": max_seconds,
        "waiting": max_waiting,
        "concurrent": max_concurrent,
        "connections": max_connections,
    }
    limits = Limits()._replace(**{name: n for name, n in given.items() if n is not None})

    def ready(address: str) -> None:
        if as_json:
            print_json({"address": address, "workers": workers})
        else:
            say(address if quiet else f"{model} answers at {address}\nCtrl-C ends it.")

    try:
        start(model, host=host, port=port, workers=workers, limits=limits, token=token, ready=ready)
    except FileNotFoundError as error:
        raise Stop(Code.MODEL_FILE, f"there is no model file {str(model)!r}") from error
    except ModelFileError as error:
        raise Stop(Code.MODEL_FILE, f"{model}: {error}") from error
