"""What stands behind ``core.runtime.jit``: ``files.py`` keeps compiled kernels on disk, under names
made by ``content.py`` (what a kernel is) and ``targets.py`` (what it runs on); ``plain.py`` runs
kernels without Numba.
"""
