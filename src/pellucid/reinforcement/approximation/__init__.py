"""Agents for many states: features, networks and policy gradients.

Start with ``approximator.py`` (linear) or ``deep_q.py`` (networks).
"""
