"""Formulas such as ``ns(x, 4) + C(g) * z``: a small language of our own that runs no Python.

``language`` reads the text into a tree (start here), ``terms`` multiplies out ``*``, ``**`` and
``/``, ``functions`` holds the only functions a formula can call, ``design`` makes the columns.
"""
