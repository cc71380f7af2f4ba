"""Sequences: hidden states that follow each other in time. Read ``forward_backward`` first.

In teaching order: ``forward_backward`` (what each state was), ``viterbi`` (the best path),
``baum_welch`` (learning), ``sequence_sampling`` (drawing sequences).
"""
