"""Networks for images. Start with ``convolutional.py``."""
