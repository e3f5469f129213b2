"""`python -m manyarms.cli`."""

from . import console_main

console_main()
