"""k-means.

Read ``kmeans.py`` first, then ``lloyd.py`` (the rounds), ``passes.py`` (one pass over the rows) and
``seeding.py`` (the start). ``mini_batch.py`` draws small batches; ``bisecting.py`` splits one
cluster at a time by ``two_means.py``; ``*kernels.py`` have the compiled sweeps.
"""
