"""Arrays, frames and parameters at the door. Start with ``check.py`` and ``typing.py``."""
