"""`python -m manyarms`."""

from .cli import main

main()
