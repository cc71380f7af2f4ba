"""What commands share: ``options`` (options, exit codes, printing), ``tables`` (reading DATA),
``outputs`` (writing folders and records) and ``ahead`` (compiling beside a first study).
"""
