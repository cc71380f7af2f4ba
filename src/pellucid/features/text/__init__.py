"""Texts as columns: ``count_vectorizer.py`` counts terms (read it first), ``tfidf.py`` weighs them,
``tfidf_vectorizer.py`` does both, ``hashing_vectorizer.py`` needs no vocabulary.

``text_model.py`` is what they share, ``terms.py`` finds the terms, ``vocabulary.py`` keeps them,
``hash_kernels.py`` hashes them.
"""
