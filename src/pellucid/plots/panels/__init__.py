"""Parts that several pictures share.

Read ``style.py`` first (colours, axes, titles), then ``marks.py`` (rings, bands, arrows, words) and
``inputs.py`` (reading tables and models). The other files serve the chapter they are named after.
"""
