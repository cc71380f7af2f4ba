"""The documentation site: what ``make site`` does before and around Sphinx.

``build.py`` is the whole of it, in order: ``staging.py`` copies ``docs/`` and fills in the parts
that are made (pictures, lab pages, sources, topics); ``reference.py``, ``gallery.py``,
``textbook.py`` and ``charts.py`` write the pages that nobody writes by hand; Sphinx turns them into
HTML with small extensions, ``mathml.py`` and ``sources.py``. Nothing asks the network.
"""
