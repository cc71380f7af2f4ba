"""Losses, backpropagation and the training loop.

Start with ``training.py``, then ``trainer.py`` (the loop) and ``backprop.py`` (the gradients).
"""
