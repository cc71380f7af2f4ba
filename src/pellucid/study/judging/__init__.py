"""How good a model is: the measure of a study and what is done with it.

Read ``measure`` first, then ``final_score``, the one use of the test rows. ``gain`` compares
it with the ``yardstick``, ``threshold_choice`` says where to cut a probability, ``decision_rule``
turns probabilities into decisions, and ``conformal`` gives limits that hold for single rows.
"""
