"""Benchmark runs: executed in supervised processes, stored in one result file, compared by ranks and tests."""
