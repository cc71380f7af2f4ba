"""Exercises on structure, chance and action, a file per topic; begin with ``clusters``."""
