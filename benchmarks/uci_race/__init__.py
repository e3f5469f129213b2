"""The parts of `uci.py`: the sets, the methods, the runs and the table."""
