"""``python -m pellucid`` is the command ``pellucid``."""

from pellucid.cli import main

if __name__ == "__main__":
    main()
