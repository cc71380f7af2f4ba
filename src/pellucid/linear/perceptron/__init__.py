"""The perceptron (``perceptron.py``), and whether two classes can be separated by a plane
(``separability.py``).
"""
