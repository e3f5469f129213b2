"""`python -m manyarms.cli`."""

from . import main

main()
