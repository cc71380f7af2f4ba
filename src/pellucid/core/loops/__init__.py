"""Loops: ``iterate.py`` drives every iteration, ``statistics.py`` every sum over blocks of rows."""
