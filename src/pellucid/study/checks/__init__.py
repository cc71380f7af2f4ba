"""The audit: what is wrong or remarkable, as findings with a code, a reason and a remedy.

Read ``audit`` first; ``findings`` lists every code. The other files make the findings about the
table (``data``), the ``target``, ``leaks``, the ``split``, the ``fit``, its ``residuals`` and a
``network`` that did not learn.
"""
