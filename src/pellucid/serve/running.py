"""Start and stop a server: one process, or several on one port."""

import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.runtime.warn import warn
from pellucid.persist import load
from pellucid.serve.app import LOCAL, make_app
from pellucid.serve.records import NEEDS, Limits

BACKLOG = 128
LOOK = 0.2  # seconds between looks at the processes
SHORTEST_LIFE = 5.0  # seconds; a process that ends sooner may end again
EARLY_DEATHS = 3  # in a row, once all were up, before the server gives up


class Settings(NamedTuple):
    """What every process of a server is told."""

    path: str  # of the model file
    limits: Limits
    token: str | None
    hosts: tuple[str, ...] | None
    folder: str  # of the counts


def serve(
    path: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    workers: int = 1,
    limits: Limits | None = None,
    token: str | None = None,
    ready: Callable[[str], Any] | None = None,
) -> None:
    """Serve a model file over HTTP until Ctrl-C or SIGTERM; requests under way are answered first.

    Parameters
    ----------
    path : str or path
        A model file, as ``pellucid.save`` or ``pellucid learn`` writes it.
    host : str, default="127.0.0.1"
        The address to listen on. On a loopback address only clients that call the server by a name
        of this machine are answered.
    port : int, default=0
        0 takes a free one.
    workers : int, default=1
        Processes that share the port.
    limits : Limits, optional
        How much one client may ask for.
    token : str, optional
        What clients must send as ``Authorization: Bearer TOKEN``.
    ready : callable, optional
        Called with the address when the server answers; None: it is printed.

    Examples
    --------
    >>> from pellucid.serve import serve
    >>> serve("model.pellucid", workers=0)
    Traceback (most recent call last):
    ValueError: workers must be a whole number >= 1, got 0
    """
    check.whole(workers=workers)
    limits = (limits or Limits()).checked()
    needed()
    model = load(path)  # one that is refused is refused before a process starts
    listening = bind(host, port)
    address = address_of(host, listening)
    local = tuple(LOCAL) if is_loopback(host) else None
    tell = ready if ready is not None else show
    with tempfile.TemporaryDirectory(prefix="pellucid-serve-") as folder:
        settings = Settings(os.fspath(path), limits, token, local, folder)
        try:
            if workers == 1:
                run_here(settings, model, listening, lambda: tell(address))
            else:
                del model
                run_many(settings, listening, workers, lambda: tell(address))
        finally:
            listening.close()


def show(address: str) -> None:
    import sys

    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def needed() -> Any:
    """uvicorn, or the sentence that says how to get it."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise ImportError(NEEDS) from None
    return uvicorn


def bind(host: str, port: int) -> socket.socket:
    """A socket that holds the port; nothing listens yet."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ValueError(f"port must be a whole number from 0 to 65535, got {port!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two programs listen on one port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ValueError(f"port {port} of {host} cannot be used: {error.strerror}") from None
    return listening


def address_of(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def server_of(app: Any, limits: Limits, started: Callable[[], Any] | None = None) -> Any:
    """A uvicorn server of the application, quiet, with our limits."""
    uvicorn = needed()
    from pellucid.serve.connections import patient

    class Server(uvicorn.Server):  # type: ignore[name-defined]
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if self.started and started is not None:
                started()

    config = uvicorn.Config(
        app,
        http=patient(limits),
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=limits.connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=max(1, round(limits.seconds)),
    )
    return Server(config)


def application(settings: Settings, model: BaseEstimator) -> Any:
    return make_app(
        model,
        settings.limits,
        token=settings.token,
        hosts=settings.hosts,
        folder=Path(settings.folder),
    )


def run_here(
    settings: Settings, model: BaseEstimator, listening: socket.socket, started: Callable[[], Any]
) -> None:
    """Serve in this process; SIGTERM ends it as Ctrl-C does, and is no error."""
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn sends it once more
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one client's rows
            app = application(settings, model)
            server_of(app, settings.limits, started).run(sockets=[listening])
    except KeyboardInterrupt:
        return
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def work(settings: Settings, listening: socket.socket, started: Any) -> None:
    """One process of several."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the first one decides
    run_here(settings, load(settings.path), listening, started.release)


def run_many(
    settings: Settings, listening: socket.socket, workers: int, started: Callable[[], Any]
) -> None:
    """Serve in several processes; one that dies is replaced."""
    context: Any = multiprocessing.get_context("spawn")
    up = context.Semaphore(0)
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())

    def begin() -> tuple[BaseProcess, float]:
        one = context.Process(target=work, args=(settings, listening, up))
        one.start()
        return one, time.monotonic()

    team = [begin() for _ in range(workers)]
    waited_for, early = workers, 0
    try:
        while not stop.wait(LOOK):
            while waited_for and up.acquire(block=False):
                waited_for -= 1
                if not waited_for:
                    started()
            for i, (one, born) in enumerate(team):
                if one.is_alive():
                    continue
                early = early + 1 if time.monotonic() - born < SHORTEST_LIFE else 0
                if early > (0 if waited_for else EARLY_DEATHS):
                    raise RuntimeError(f"a process of the server ended with code {one.exitcode}")
                warn(f"a process of the server ended with code {one.exitcode}; another starts")
                team[i] = begin()
    finally:
        for one, _ in team:
            one.terminate()  # SIGTERM: it answers what is under way
        for one, _ in team:
            one.join(settings.limits.seconds + 5)
            if one.is_alive():
                one.kill()
                one.join()


@contextmanager
def served(
    model: BaseEstimator, limits: Limits | None = None, *, token: str | None = None
) -> Iterator[str]:
    """A server in a thread of its own for as long as the block lasts; its address."""
    limits = (limits or Limits()).checked()
    listening = bind("127.0.0.1", 0)
    server = server_of(make_app(model, limits, token=token, hosts=LOCAL), limits)
    sockets = {"sockets": [listening]}
    thread = threading.Thread(target=server.run, kwargs=sockets, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield address_of("127.0.0.1", listening)
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listening.close()
