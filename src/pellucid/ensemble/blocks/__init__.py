"""Trees from blocks of rows: what stays with the rows, and what travels.

Read ``shards.py`` first: rows that stay where they were read, and orders that go round them.
``placing.py`` brings an order to the worker that holds the rows, ``table.py`` opens blocks with
columns of words, ``sketch.py`` finds the bins. The methods themselves are in
``boosting/block_rounds.py`` and ``forest/block_forest.py``.
"""
