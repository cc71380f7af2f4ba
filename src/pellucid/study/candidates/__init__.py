"""The models a study tries, and the folds on which they compete.

Read ``candidates`` first, one row per model, then ``training`` and ``leaderboard``. ``guessing``,
``products`` and ``unit_network`` are models that exist for studies only.
"""
