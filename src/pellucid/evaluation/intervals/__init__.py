"""Intervals of metrics.

Read ``intervals.py`` first (the record; shares and means), then ``metric_intervals.py``, which
chooses the kind. ``bootstrap_intervals.py`` has BCa and percentile intervals, ``resampled.py``
the fast resampling of each kind of metric, ``kernels.py`` draws the resamples.
"""
