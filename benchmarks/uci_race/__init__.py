"""The parts of `uci.py`: datasets, methods, runs and tables."""
