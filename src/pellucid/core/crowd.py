"""How many threads a gang should put to work while other jobs share the machine.

Threads that meet at barriers are as fast as the slowest of them: when another job takes half of a
core, all wait for the thread on it, and one thread less is faster. What is watched is the share
of the time that the threads at work were on a core,

    got = processor time of the process / (time * threads at work),

which is 1 on a quiet machine, waiting at barriers included. Where it falls short by more than
``SHORT`` of a thread, one is sent away; after a while it is asked back. The work must give the
same result with any number of threads.
"""

WINDOW = 0.05  # seconds of work after which a judgement is made
SHORT = 0.3  # of one thread
PATIENCE = 4  # windows before a thread is asked back; twice as many each time it was in vain
MOST_PATIENCE = 64


class Crowd:
    """The number of threads ``at_work``, of ``n_threads``.

    >>> crowd = Crowd(2)
    >>> crowd.note(0.1, 0.2)  # both cores were ours
    >>> crowd.at_work
    2
    >>> crowd.note(0.1, 0.15)  # half of one was not
    >>> crowd.at_work
    1
    >>> for _ in range(PATIENCE): crowd.note(0.1, 0.1)
    >>> crowd.at_work
    2
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = self.at_work = n_threads
        self.wall = self.cpu = 0.0
        self.patience, self.left = PATIENCE, 0

    def note(self, wall: float, cpu: float) -> None:
        """A piece of work took ``wall`` seconds, and ``cpu`` seconds of processor time in all."""
        self.wall += wall
        self.cpu += cpu
        if self.wall < WINDOW:
            return
        missing = self.at_work - self.cpu / self.wall  # in threads
        self.wall = self.cpu = 0.0
        if self.at_work > 1 and missing > SHORT:
            self.at_work -= 1
            self.left, self.patience = self.patience, min(2 * self.patience, MOST_PATIENCE)
        elif self.at_work < self.n_threads:
            self.left -= 1
            self.at_work += self.left <= 0
