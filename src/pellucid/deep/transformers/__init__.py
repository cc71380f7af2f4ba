"""Transformers. Start with ``attending.py`` (attention), then ``transformer_classifier.py``."""
