"""A saved model at work: on new rows, without the study that made it.

Read ``prediction`` first. ``evaluation`` scores rows with known answers, ``drift`` compares them
with the training rows, ``explanation`` and its ``attribution`` say why a model answers as it does.
"""
