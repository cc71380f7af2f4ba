"""Labels and decisions: what to do with scores, with many classes, with several labels at once.

Start with ``expected_loss``, then ``cut_point``. Many classes from two: ``one_vs_rest``,
``one_vs_one``, ``one_vs_reference``. Several labels: ``classifier_chain``, ``label_powerset``;
several numbers: ``regressor_chain``. Orders: ``pairwise_ranking``. Few labels: ``self_training``.
"""
