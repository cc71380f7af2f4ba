"""Features: turning a table into columns that a model can use. Read ``standardise`` first.

In teaching order:

- scale: ``standardise``, ``robust_scaling``, ``power_transform``, ``quantile_transform``
- categories, words, bins: ``one_hot_encoding``, ``target_encoding``, ``tf_idf``,
  ``feature_hashing``, ``equal_bins``
- bases: ``truncated_powers``, ``b_splines``, ``gaussian_basis``
- gaps: ``neighbour_imputation``, ``chained_imputation``
- which columns: ``f_test``, ``mutual_information``, ``drop_collinear``, ``sequential_selection``,
  ``recursive_elimination``
"""
