"""Threads that work in step inside compiled code.

A gang of threads (``core.runtime.threads.gang``) runs one kernel each and meets at ``meet``.
Waiting spins for a moment and then gives its core away, so that a busy machine slows a gang down
but never stops it.
"""

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.simd import add_one, give_way, look_at

SPINS = 200  # looks at the counter before the core is given away


@jit
def meet(counter, n_threads, turn):
    """Wait until all threads are here; returns ``turn``, to be handed to the next meeting."""
    turn += n_threads
    add_one(counter)
    spins = 0
    while look_at(counter) < turn:
        spins += 1
        if spins > SPINS:
            give_way()
    return turn
