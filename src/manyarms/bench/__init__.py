"""Benchmarks: the problems that strategies are compared on, and the race between them and other libraries."""
