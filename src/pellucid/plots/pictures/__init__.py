"""One picture per file."""
