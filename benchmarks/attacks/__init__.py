"""The attacks of `hostile.py`: each module attacks studies in one way, and counts failures."""
