"""Generative adversarial networks. Start with ``adversarial.py``."""
