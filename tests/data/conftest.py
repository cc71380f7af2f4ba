"""Connections that a test opens are closed when it ends (Python 3.13 complains of others)."""

import sqlite3

import pytest


@pytest.fixture(autouse=True)
def _closed_connections(monkeypatch):
    opened, connect = [], sqlite3.connect

    def remember(*args, **kwargs):
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    yield
    for connection in opened:
        connection.close()
