"""Does everything that prints low and high hold the truth as often as it says? Simulations.

    python -m benchmarks.calibration --jobs 16 --replications 1000 --out benchmarks/CALIBRATION.md

``case.py`` says what a case is and when it holds: read it first. ``cases_*.py`` hold the designs,
``runner.py`` runs them in processes, ``page.py`` writes the table.
"""
