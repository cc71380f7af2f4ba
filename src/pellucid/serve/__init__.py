"""A saved model behind HTTP: rows in, answers out.

Read ``app`` first: what is asked of the server and what it answers. ``records`` says the limits
and the refusals, ``rows`` turns requests into tables and answers into bytes, ``questions`` holds
the model, ``counters`` count what was strange about the rows, ``document`` is the OpenAPI text,
``connections`` ends slow clients, ``running`` starts and stops the processes.
"""

from pellucid._lazy import lazy_names

_HOME = {"Limits": "records", "make_app": "app", "serve": "running"}

__getattr__, __dir__, __all__ = lazy_names("pellucid.serve", _HOME)
