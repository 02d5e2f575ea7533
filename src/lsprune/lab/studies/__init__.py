"""Studies: which runs there are, running them, and the files that their results are kept in."""
