"""From the columns of a table to the numbers a model sees.

Read ``table_features`` first; ``treatments`` says what becomes of each kind of column, and
``rule_words`` turns the rules of a tree back into the words of the table.
"""
