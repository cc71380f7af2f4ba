"""The page on naive Bayes, conjugate posteriors and Metropolis walks. Read ``page.py`` first."""
