"""Races: the strategies of this library and other libraries, on the same problems, at the same price."""
