"""Pages on curves through rows of one column: tube, tree, intervals. See ``page.py`` first."""
