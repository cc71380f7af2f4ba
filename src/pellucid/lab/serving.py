"""The lab's own server: on this machine only, for whoever has the address that it prints.

It listens on 127.0.0.1. Every request must name this server as its host and, where a browser says
where a request comes from, come from this server's own page: another web site that is open in the
same browser can neither read nor start anything. The pages themselves hold nothing but the lab's
own text, so that their addresses can be passed on; whatever runs or answers with data needs a
random token in a header. The printed address carries it behind a #, which browsers do not send.
Pages run in one worker thread, one run at a time. No file that is sent is kept, nothing is fetched,
no code that is sent is run.
"""

import asyncio
import json
import logging
import os
import secrets
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from pellucid.core.runtime.warn import warn
from pellucid.lab.answering import answer_card, answer_run, answer_table, columns_of, whole_number
from pellucid.lab.exporting import content, gallery_content, gallery_html, page_html
from pellucid.lab.pages import page_of

HOST = "127.0.0.1"
MOST_REQUEST = 2_000_000  # bytes of a run's settings and rows
MOST_TABLE = 20_000_000  # bytes of a CSV file
LONGEST_RUN = 20.0  # seconds until a run is given up
NEEDS = 'the lab needs Starlette and uvicorn: pip install "pellucid[lab]"'
NOT_HERE = "this address belongs to another program: start with the one that the lab printed"
NO_TOKEN = "the token is missing or wrong: open the address that the lab printed"
FOREIGN = "a page of another site may not ask this server"
TOO_LONG = (
    "the run took longer than {limit:g} s and was given up (it still computes, so the next one may "
    "wait): take fewer rows, fewer steps or a smaller model"
)
CLOSING = "the lab is closing"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Needed(NamedTuple):
    """What the extra brings."""

    uvicorn: Any
    application: Any
    route: Any


def needed() -> Needed:
    """Starlette and uvicorn, or the sentence that says how to get them."""
    try:
        import uvicorn
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise ImportError(NEEDS) from None
    return Needed(uvicorn, Starlette, Route)


def policy(nonce: str) -> str:
    """Only the scripts and styles of this answer; requests only to this server."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


class TooLargeError(ValueError):
    """A body beyond its limit."""


class Door(NamedTuple):
    """Who may come in."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names that a browser may call this server by; port 80 it leaves out."""
        bare = (HOST, "localhost") if self.port == 80 else ()
        return (f"{HOST}:{self.port}", f"localhost:{self.port}", *bare)

    def refusal(self, request: Any) -> str | None:
        """Why a request is not answered, or None."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return NOT_HERE
        origins = request.headers.getlist("origin")
        if origins and origins != [f"http://{hosts[0]}"]:
            return FOREIGN
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return FOREIGN
        if request.method == "GET":  # a page: the lab's own text, the same for all
            return None
        given = request.headers.get("x-pellucid-token")
        same = secrets.compare_digest((given or "").encode(), self.token.encode())
        return None if same else NO_TOKEN


async def body_of(request: Any, most: int) -> bytes:
    """The body, counted while it comes in."""
    said = request.headers.get("content-length", "0")
    if said.isdecimal() and len(said) < 20 and int(said) > most:
        raise TooLargeError(f"at most {most // 1_000_000} MB are taken")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLargeError(f"at most {most // 1_000_000} MB are taken")
        parts.append(part)
    return b"".join(parts)


def reply(text: str, status: int = 200) -> Any:
    """An answer that is data: no page, no script."""
    from starlette.responses import Response

    headers = {**HEADERS, "Content-Security-Policy": "default-src 'none'"}
    return Response(text, status, headers, "application/json")


def error(sentence: str, status: int) -> Any:
    return reply(json.dumps({"error": " ".join(sentence.split())}), status)


class Desk(NamedTuple):
    """What answers: pages, runs in a worker, tables."""

    door: Door
    worker: ThreadPoolExecutor
    table: dict[str, Any] | None
    longest_run: float

    def guarded(self, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The answer for those who may ask, and a sentence for every error that is foreseen."""

        async def endpoint(request: Any) -> Any:
            refusal = self.door.refusal(request)
            if refusal is not None:
                return error(refusal, 403)
            try:
                return await answer(request)
            except TooLargeError as problem:
                return error(str(problem), 413)
            except (ValueError, ArithmeticError) as problem:
                return error(str(problem) or type(problem).__name__, 400)
            except TimeoutError:
                return error(TOO_LONG.format(limit=self.longest_run), 503)
            except asyncio.CancelledError:  # Ctrl-C while it computes
                return error(CLOSING, 503)

        return endpoint

    async def worked(self, function: Callable[[bytes], Any], body: bytes) -> Any:
        """One at a time; a run that waits or computes too long is given up."""
        waiting = asyncio.get_running_loop().run_in_executor(self.worker, function, body)
        return await asyncio.wait_for(waiting, self.longest_run)

    async def page(self, request: Any) -> Any:
        from starlette.responses import HTMLResponse

        name = request.path_params.get("name", "index").removesuffix(".html")[:60]
        nonce = secrets.token_urlsafe(16)
        headers = {**HEADERS, "Content-Security-Policy": policy(nonce)}
        if name == "index":
            return HTMLResponse(
                gallery_html(gallery_content("server"), nonce=nonce), headers=headers
            )
        boot = content("server", page=page_of(name), table=self.table is not None)
        return HTMLResponse(page_html(boot, nonce=nonce), headers=headers)

    async def card(self, request: Any) -> Any:
        return reply(await self.worked(answer_card, await body_of(request, MOST_REQUEST)))

    async def offered(self, request: Any) -> Any:
        return reply(json.dumps(self.table, allow_nan=False))

    async def run(self, request: Any) -> Any:
        return reply(await self.worked(answer_run, await body_of(request, MOST_REQUEST)))

    async def columns(self, request: Any) -> Any:
        found = await self.worked(answer_table, await body_of(request, MOST_TABLE))
        return reply(json.dumps(found, allow_nan=False))

    async def unknown(self, request: Any, problem: Any) -> Any:
        refusal = self.door.refusal(request)
        if refusal is not None:
            return error(refusal, 403)
        words = "there is nothing at this address"
        if problem.status_code == 405:
            words = "this address is not asked in this way"
        return error(words, problem.status_code)


async def broken(request: Any, problem: Any) -> Any:
    """What nobody foresaw; Starlette writes the traceback to the log."""
    return error(f"the run failed inside: {type(problem).__name__}", 500)


def make_app(
    token: str, port: int, table: dict[str, Any] | None = None, *, longest_run: float = LONGEST_RUN
) -> Any:
    """The application: GET / is the gallery, GET /kmeans a page; POST /run answers with a trace,
    /card with a small moving picture, /table with the columns of a CSV file, /offered with those of
    the table that the lab was started with.

    >>> [route.path for route in make_app("secret", 8000).routes]
    ['/', '/run', '/card', '/table', '/offered', '/{name}']
    """
    _, application, route = needed()
    desk = Desk(Door(token, port), ThreadPoolExecutor(1, "pellucid-lab"), table, longest_run)
    return application(
        routes=[
            route("/", desk.guarded(desk.page), methods=["GET"]),
            route("/run", desk.guarded(desk.run), methods=["POST"]),
            route("/card", desk.guarded(desk.card), methods=["POST"]),
            route("/table", desk.guarded(desk.columns), methods=["POST"]),
            route("/offered", desk.guarded(desk.offered), methods=["POST"]),
            route("/{name}", desk.guarded(desk.page), methods=["GET"]),
        ],
        exception_handlers={404: desk.unknown, 405: desk.unknown, 500: broken},
    )


class Running(NamedTuple):
    """A server that listens: its token and port, and the address of a page."""

    token: str
    port: int
    server: Any
    socket: Any

    def address(self, page: str | None = None, seed: int = 0, place: str = "") -> str:
        """Of the gallery or a page; ``place`` is what a copied link has after its #."""
        more = f"{'&' + place if place else ''}{f'&seed={seed}' if seed else ''}"
        return f"http://{HOST}:{self.port}/{page or ''}#token={self.token}{more}"


def prepared(port: int = 0, data: Any = None, *, longest_run: float = LONGEST_RUN) -> Running:
    """Bind the port, so that the address is known, and make the server; nothing runs yet."""
    uvicorn = needed().uvicorn
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ValueError(f"port must be a whole number from 0 to 65535, got {port!r}")
    token, table = secrets.token_urlsafe(32), None if data is None else offered(data)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two programs listen on one port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)  # who comes before the server is up, waits
    except OSError as error:
        listening.close()
        raise ValueError(f"port {port} of {HOST} cannot be used: {error.strerror}") from None
    number = listening.getsockname()[1]
    app = make_app(token, number, table, longest_run=longest_run)
    logging.getLogger("uvicorn.error").addFilter(is_news)
    quiet = {"log_level": "error", "access_log": False, "server_header": False}
    plain_http = {"lifespan": "off", "ws": "none", "proxy_headers": False}
    config = uvicorn.Config(app, **quiet, **plain_http, timeout_graceful_shutdown=1)
    return Running(token, number, uvicorn.Server(config), listening)


def is_news(record: logging.LogRecord) -> bool:
    """Not that a run was given up because the reader ended the lab."""
    return "graceful shutdown" not in record.getMessage()


def offered(data: Any) -> dict[str, Any]:
    """A table that the page's "load" has from the start; what loading it warns of is noted too."""
    from pellucid.data import load

    with warnings.catch_warnings(record=True, action="always") as caught:
        frame = load(data)
    for warning in caught:
        warn(warning.message)
    return columns_of(frame, [str(warning.message) for warning in caught])


def serve(
    *,
    port: int = 0,
    data: Any = None,
    page: str | None = None,
    place: str = "",
    seed: int = 0,
    ready: Callable[[str], Any] | None = None,
) -> None:
    """Serve the lab on this machine until Ctrl-C.

    Parameters
    ----------
    port : int, default=0
        Of 127.0.0.1; 0 takes a free one.
    data : path, frame or whatever ``pellucid.data.load`` reads, optional
        A table that every page can load at once.
    page : str, optional
        The page of the printed address; the gallery by default.
    place : str, default=""
        What a copied link has after its #: preset, settings, data, step.
    seed : int, default=0
        Of the presets' data, from 0 to 2**32 - 1.
    ready : callable, optional
        Called with the address instead of printing it.

    Examples
    --------
    >>> from pellucid.lab import serve
    >>> serve(port=-1)
    Traceback (most recent call last):
    ValueError: port must be a whole number from 0 to 65535, got -1
    """
    if page is not None:
        page_of(page)
    seed = whole_number(seed, "seed", 2**32 - 1)
    running = prepared(port, data)
    address = running.address(page, seed, place)
    if ready is None:
        import sys

        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
    else:
        ready(address)
    try:
        running.server.run(sockets=[running.socket])
    except KeyboardInterrupt:
        return
    finally:
        running.socket.close()


@contextmanager
def served(data: Any = None, *, longest_run: float = LONGEST_RUN) -> Iterator[Running]:
    """A server in a thread of its own, for as long as the block lasts."""
    running = prepared(0, data, longest_run=longest_run)
    sockets = {"sockets": [running.socket]}
    thread = threading.Thread(target=running.server.run, kwargs=sockets, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.server.should_exit = True
        thread.join(timeout=10)
        running.socket.close()
