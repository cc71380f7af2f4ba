"""Texts as columns: ``count_vectorizer.py`` counts terms (read it first), ``terms.py`` finds them,
``tfidf.py`` weighs them.
"""
