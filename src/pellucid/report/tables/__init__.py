"""Pages of cluster, reduce, anomalies, compare and sweep, each from the plain data of its record.

Read ``pages`` first: the template, and ``render_record``, which finds the page of any record.
"""
