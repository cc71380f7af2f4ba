"""The pictures, one folder per chapter of the course and one file per picture."""
