"""`python -m manyarms`."""

from .cli import console_main

console_main()
