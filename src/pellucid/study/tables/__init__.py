"""Answers about a table in one call; each command of the same purpose prints its record.

Without a target: ``groups`` (group_table), ``reduction`` (reduce_table) and ``anomalies``
(find_anomalies), all on the numbers of ``inputs``. With one: ``comparison`` (compare_candidates)
and ``parameter_sweep`` (sweep_parameter), on the rows and models of ``contestants``.
Read ``groups`` first; ``group_count`` is its mathematics.
"""
