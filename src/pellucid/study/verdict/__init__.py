"""The end of a study: the model that is kept, why it says what it says, and the answer in words.

Read ``verdict`` first; ``final_model`` makes what it needs, ``insights`` explains the model, and
``advice`` says which method suits a table of a given kind.
"""
