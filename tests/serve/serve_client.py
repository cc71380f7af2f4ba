"""A client that can do everything wrong."""

import http.client
import json
import socket
from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The one sentence of a refusal; nothing else is in it."""
        found = self.json
        assert list(found) == ["error"]
        sentence = found["error"]
        assert "\n" not in sentence
        assert "Traceback" not in sentence
        assert ".py" not in sentence
        return sentence


class Client:
    """Plain HTTP, one connection a request."""

    def __init__(self, address: str, token: str | None = None) -> None:
        self.place = address.removeprefix("http://")
        self.port = int(self.place.rsplit(":", 1)[1])
        self.token = token

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        link = http.client.HTTPConnection(self.place, timeout=60)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            found = {k.lower(): v for k, v in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            link.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def predict(self, rows: Any, **more: Any) -> Answer:
        body = rows if isinstance(rows, bytes) else json.dumps({"rows": rows, **more}).encode()
        return self.ask("POST", "/predict", body, Content_Type="application/json")

    def raw(self, data: bytes, *, seconds: float = 20.0) -> bytes:
        """Send these bytes and read until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as link:
            link.sendall(data)
            return drained(link)


def drained(link: socket.socket) -> bytes:
    parts = []
    try:
        while part := link.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
