"""`python -m lsprune`: the command line."""

from lsprune.cli import main

main()
