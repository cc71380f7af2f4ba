"""Networks in files. Start with ``network_files.py``; one reader and writer per format."""
