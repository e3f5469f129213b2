"""Races: compares the strategies of this library with other libraries, on the same problems and at the same cost."""
