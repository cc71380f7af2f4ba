"""How code runs: ``jit.py`` compiles, ``threads.py`` maps over blocks, ``random.py`` seeds,
``warn.py`` warns at the user's line.
"""
