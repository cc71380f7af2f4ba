"""Recurrent networks for sequences. Start with ``recurrent.py``."""
