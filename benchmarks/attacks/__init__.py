"""The attacks of `hostile.py`: each module damages studies in one way and counts what it broke."""
