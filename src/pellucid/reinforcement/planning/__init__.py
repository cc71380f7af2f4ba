"""The best policy of a known Markov decision process.

Start with ``value_iteration.py``; ``planner.py`` holds what all planners share.
"""
