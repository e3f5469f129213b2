"""The parts of `uci.py`: the sets, the entrants, the heats and the table."""
