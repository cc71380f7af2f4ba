"""Trees: predictions by questions.

Start with ``cart``; ``impurity`` says what a question is worth. Numbers: ``regression_tree``,
``category_split``. Many-way trees: ``id3``, ``c45``, ``fractional_cases``. Smaller trees:
``cost_complexity_pruning``, ``reduced_error_pruning``, ``pessimistic_pruning``. Reading them:
``tree_rules``, ``shapley_values``.
"""
