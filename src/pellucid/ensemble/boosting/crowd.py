"""How many threads a gang should put to work while other jobs share the machine.

Threads that meet at barriers are as fast as the slowest of them: when another job takes most of a
core, all wait for the thread on it, and one thread less is faster. What is watched is the share
of the time that the threads at work were on a core,

    got = processor time of the process / (time * threads at work),

which is 1 on a quiet machine, waiting at barriers included. Where it falls short by more than
``SHORT`` of a thread, one is sent away on trial: it stays away only where a piece of work then
takes less time than before. After a while it is asked back, on trial again. The work must give
the same result with any number of threads.
"""

WINDOW = 0.05  # seconds of work after which a judgement is made
SHORT = 0.3  # of one thread
PATIENCE = 4  # windows before the next trial; twice as many each time one was in vain
MOST_PATIENCE = 64


class Crowd:
    """The number of threads ``at_work``, of ``n_threads``.

    >>> crowd = Crowd(2)
    >>> crowd.note(0.1, 0.2)  # both cores were ours
    >>> crowd.at_work
    2
    >>> crowd.note(0.1, 0.15)  # half of one was not: a trial without it
    >>> crowd.at_work
    1
    >>> crowd.note(0.15, 0.15)  # the same work took longer: the trial was in vain
    >>> crowd.at_work
    2
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = self.at_work = n_threads
        self.wall = self.cpu = 0.0
        self.pieces = 0
        self.patience, self.left = PATIENCE, 0
        self.on_trial = 0  # -1 or 1: by how much the number differs from the one before
        self.pace = 0.0  # seconds a piece before the trial

    def note(self, wall: float, cpu: float) -> None:
        """A piece of work took ``wall`` seconds, and ``cpu`` seconds of processor time in all."""
        self.wall += wall
        self.cpu += cpu
        self.pieces += 1
        if self.n_threads == 1 or self.wall < WINDOW:
            return
        pace, missing = self.wall / self.pieces, self.at_work - self.cpu / self.wall
        self.wall = self.cpu = 0.0
        self.pieces = 0
        if self.on_trial:
            self._judge(pace)
            return
        self.left -= 1
        if self.left > 0:
            return
        if self.at_work > 1 and missing > SHORT:
            self._try(-1, pace)
        elif self.at_work < self.n_threads:
            self._try(1, pace)

    def _try(self, more: int, pace: float) -> None:
        self.at_work += more
        self.on_trial, self.pace = more, pace

    def _judge(self, pace: float) -> None:
        """The end of a trial: the number that was faster is kept."""
        if pace < self.pace:
            self.patience = PATIENCE
        else:
            self.at_work -= self.on_trial
            self.patience = min(2 * self.patience, MOST_PATIENCE)
        self.on_trial, self.left = 0, self.patience
