"""Connections that end when a client takes too long.

uvicorn waits for the head of a request, and for a client to read its answer, as long as the client
likes: a few thousand connections that send a byte a minute would fill the server. Here a
connection has ``waiting`` seconds for the head of a request, from then on the time of its whole
request, and ``waiting`` seconds to read the answer.
"""

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pellucid.serve.records import Limits


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with a clock."""

    limits = Limits()

    def connection_made(self, transport: Any) -> None:
        self.clock: Any = None
        self.stage = ""
        super().connection_made(transport)
        self._wait("head", self.limits.waiting)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        self._stop()  # an idle connection ends by uvicorn's own clock
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._wait("reading", self.limits.waiting)
        elif self.conn.trailing_data[0] or self.conn.their_state is not h11.IDLE:
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Start the clock of the stage that has begun."""
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.IDLE:
            if self.stage == "":
                self._wait("head", self.limits.waiting)
        elif self.stage != "request":
            self._wait("request", 2 * self.limits.waiting + self.limits.seconds)

    def _wait(self, stage: str, seconds: float) -> None:
        self._stop()
        self.stage, self.clock = stage, self.loop.call_later(seconds, self._give_up)

    def _stop(self) -> None:
        if self.clock is not None:
            self.clock.cancel()
        self.stage, self.clock = "", None

    def _give_up(self) -> None:
        self._stop()
        self.transport.abort()


def patient(limits: Limits) -> type[PatientProtocol]:
    """The protocol with these limits."""
    return type("PatientProtocol", (PatientProtocol,), {"limits": limits})
