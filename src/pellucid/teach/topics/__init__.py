"""The exercises: ``prediction`` holds the topics with a target, ``structure`` the others.

A file is a topic. Its answers are computed by ``pellucid.textbook``; read
``prediction/regression.py`` first.
"""
