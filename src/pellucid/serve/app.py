"""The addresses of a server and what it answers at each.

    POST /predict          rows as JSON or as an Arrow stream; answers in the same form
    GET  /schema /card     what the model takes and gives; what it says of itself
    GET  /drift            counts of requests, rows and cells unlike the training rows
    GET  /openapi.json     the same interface as OpenAPI 3.1
    GET  /health/live /health/ready

A request is refused with one sentence, ``{"error": ...}``, and a status that says whose fault it
is. No file is written for a client, nothing is fetched, no code that is sent is run, and what
fails inside is told to the log, not to the client.
"""

import asyncio
import logging
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from pellucid.core.runtime.threads import thread_count
from pellucid.core.visible import visible
from pellucid.serve.counters import Counters, drift_record
from pellucid.serve.document import openapi
from pellucid.serve.questions import Desk
from pellucid.serve.records import NEEDS, Limits, RefusalError
from pellucid.serve.rows import ARROW, JSON, json_text, read_request, write_answers

log = logging.getLogger("pellucid.serve")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOCAL = ("127.0.0.1", "localhost", "[::1]")
LONGEST = 400  # characters of a sentence


class Door(NamedTuple):
    """Who may ask: everyone who can reach the port, or who has the token."""

    token: str | None = None
    hosts: tuple[str, ...] | None = None  # names a client may call this server by; None: any

    def check(self, request: Any) -> None:
        """RefusalError for a request that is not let in."""
        if self.hosts is not None:
            given = request.headers.getlist("host")
            name = given[0].rsplit(":", 1)[0] if given and not given[0].endswith("]") else ""
            bare = given[0] if given else ""
            if len(given) != 1 or not {name, bare} & set(self.hosts):
                raise RefusalError(421, "the request names another host than this server")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise RefusalError(403, "a page of another site may not ask this server")
        if self.token is None:
            return
        scheme, _, given_token = request.headers.get("authorization", "").partition(" ")
        same = secrets.compare_digest(given_token.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not same:
            raise RefusalError(401, "the token is missing or wrong")


class Office:
    """Everything that the addresses share: the model, its counters, its limits."""

    def __init__(self, model: BaseEstimator, limits: Limits, door: Door, folder: Path) -> None:
        self.desk, self.limits, self.door = Desk(model), limits, door
        names = tuple(column.name for column in self.desk.schema.columns)
        self.counters = Counters(folder, names)
        self.workers = ThreadPoolExecutor(max(2, thread_count()), "pellucid-serve")
        self.inside = 0  # requests that are answered or wait for it

    def work(self, kind: str, wanted: str, body: bytes, options: dict[str, str]) -> bytes:
        """The answer of one request, in a thread of its own."""
        desk = self.desk
        rows, asked = read_request(kind, body, options, desk.schema, self.limits)
        found = desk.answer(rows, asked)
        self.counters.add_rows(rows, desk.strange(rows))
        return write_answers(wanted, found)

    async def predict(self, request: Any) -> Any:
        """POST /predict."""
        self.counters.add(requests=1)
        kind, wanted = kinds_of(request)
        if self.inside >= self.limits.concurrent:
            self.counters.add(busy=1)
            raise RefusalError(503, "the server is busy: come again in a second")
        self.inside += 1
        try:
            body = await body_of(request, self.limits)
        except BaseException:
            self.inside -= 1
            raise
        options = dict(request.query_params)
        loop = asyncio.get_running_loop()
        job = loop.run_in_executor(self.workers, self.work, kind, wanted, body, options)
        job.add_done_callback(self._left)  # a job that is given up still computes
        try:
            answer = await asyncio.wait_for(asyncio.shield(job), self.limits.seconds)
        except TimeoutError:
            limit = self.limits.seconds
            raise RefusalError(
                503, f"the answer took longer than {limit:g} s: send fewer rows"
            ) from None
        self.counters.add(answered=1)
        return reply(answer, 200, wanted)

    def _left(self, job: Any) -> None:
        self.inside -= 1
        if not job.cancelled():
            job.exception()  # it was told to the client, or the client has gone

    async def schema(self, request: Any) -> Any:
        """GET /schema."""
        return reply(json_text(self.desk.schema.to_dict()))

    async def card(self, request: Any) -> Any:
        """GET /card."""
        return reply(json_text(self.desk.card()))

    async def drift(self, request: Any) -> Any:
        """GET /drift."""
        counts, desk = self.counters.read(), self.desk
        return reply(json_text(drift_record(counts, desk.schema, desk.training_gaps())))

    async def document(self, request: Any) -> Any:
        """GET /openapi.json."""
        name = f"Predictions of a {type(self.desk.plain.parts.last).__name__}"
        token = self.door.token is not None
        return reply(json_text(openapi(self.desk.schema, self.limits, name, token=token)))

    async def live(self, request: Any) -> Any:
        """GET /health/live."""
        return reply(json_text({"status": "live"}))

    async def ready(self, request: Any) -> Any:
        """GET /health/ready: the model is loaded and warm before the port is open."""
        if self.inside >= self.limits.concurrent:
            raise RefusalError(503, "the server is busy: come again in a second")
        return reply(json_text({"status": "ready"}))

    def guarded(
        self, answer: Callable[[Any], Awaitable[Any]], *, open_door: bool = False
    ) -> Callable[[Any], Awaitable[Any]]:
        """The answer for those who may ask, and a sentence for everything that goes wrong."""

        async def endpoint(request: Any) -> Any:
            try:
                if not open_door:
                    self.door.check(request)
                return await answer(request)
            except RefusalError as problem:
                if problem.status < 500:
                    self.counters.add(refused=1)
                return error(str(problem), problem.status)
            except ValueError as problem:  # of what cannot be read
                self.counters.add(refused=1)
                return error(str(problem), 400)

        return endpoint


def kinds_of(request: Any) -> tuple[str, str]:
    """The form of the request and of its answer."""
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given not in (JSON, ARROW):
        raise RefusalError(415, f"the content must be {JSON} or {ARROW}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "the content must not be packed")
    accepted = request.headers.get("accept", "*/*").lower()
    if ARROW in accepted:
        return given, ARROW
    return given, JSON if JSON in accepted else given


async def body_of(request: Any, limits: Limits) -> bytes:
    """The body, counted and timed while it comes in."""
    too_large = f"at most {limits.body} bytes are taken"
    said = request.headers.get("content-length", "0")
    if said.isdecimal() and (len(said) > 19 or int(said) > limits.body):
        raise RefusalError(413, too_large)

    async def read() -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > limits.body:
                raise RefusalError(413, too_large)
            parts.append(part)
        return b"".join(parts)

    try:
        return await asyncio.wait_for(read(), limits.waiting)
    except TimeoutError:
        seconds = f"{limits.waiting:g} s"
        raise RefusalError(408, f"the request did not come within {seconds}") from None


def reply(content: bytes, status: int = 200, kind: str = JSON) -> Any:
    """An answer that is data: no page, no script."""
    from starlette.responses import Response

    return Response(content, status, HEADERS, kind)


def error(sentence: str, status: int) -> Any:
    """A refusal: one sentence; a connection that was refused in the middle is closed."""
    text = visible(" ".join(sentence.split()), one_line=True)
    answer = reply(json_text({"error": text[:LONGEST]}), status)
    if status in (408, 413):
        answer.headers["Connection"] = "close"
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        answer.headers["Retry-After"] = "1"
    return answer


async def nowhere(request: Any, problem: Any) -> Any:
    """An address that is none, or is not asked in this way."""
    known = {404: "there is nothing at this address", 405: "this address is not asked in this way"}
    return error(known.get(problem.status_code, "the request is refused"), problem.status_code)


async def broken(request: Any, problem: Any) -> Any:
    """What nobody foresaw: the log gets the traceback, the client one sentence."""
    request.app.state.office.counters.add(failed=1)
    log.error("a request failed", exc_info=problem)
    return error("the request failed inside; the server's log says more", 500)


def make_app(
    model: BaseEstimator,
    limits: Limits | None = None,
    *,
    token: str | None = None,
    hosts: tuple[str, ...] | None = None,
    folder: Path | None = None,
) -> Any:
    """An ASGI application that answers for a fitted model; any ASGI server can run it.

    Parameters
    ----------
    model : fitted estimator
        As ``pellucid.load`` brings it back.
    limits : Limits, optional
        How much one client may ask for.
    token : str, optional
        What clients must send as ``Authorization: Bearer TOKEN``.
    hosts : tuple of str, optional
        Names that a client may call this server by; None: any.
    folder : path, optional
        Where the processes of one server keep their counts; None: a temporary one.

    Returns
    -------
    starlette.applications.Starlette

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> from pellucid.serve import make_app
    >>> app = make_app(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    >>> [route.path for route in app.routes][:2]
    ['/predict', '/schema']
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise ImportError(NEEDS) from None
    limits = (limits or Limits()).checked()
    where = folder or Path(tempfile.mkdtemp(prefix="pellucid-serve-"))
    office = Office(model, limits, Door(token, hosts), where)
    office.desk.warm()
    get = {
        "/schema": office.schema,
        "/card": office.card,
        "/drift": office.drift,
        "/openapi.json": office.document,
    }
    health = {"/health/live": office.live, "/health/ready": office.ready}
    routes = [
        Route("/predict", office.guarded(office.predict), methods=["POST"]),
        *(Route(path, office.guarded(answer), methods=["GET"]) for path, answer in get.items()),
        *(
            Route(path, office.guarded(answer, open_door=True), methods=["GET"])
            for path, answer in health.items()
        ),
    ]
    app = Starlette(
        routes=routes, exception_handlers={404: nowhere, 405: nowhere, 400: nowhere, 500: broken}
    )
    app.router.redirect_slashes = False
    app.state.office = office
    if folder is None:
        weakref.finalize(app, shutil.rmtree, where, ignore_errors=True)
    return app
