"""A table before anything is learned: what its cells, columns and target mean.

Read ``profiles`` first: the kind of every column. ``cell_values``, ``dates`` and ``number_summary``
read the cells, ``equality`` finds equal rows; ``tasks`` reads the task off the target,
``target_arrays`` makes arrays of it, and ``refusals`` says what cannot be learned from.
"""
