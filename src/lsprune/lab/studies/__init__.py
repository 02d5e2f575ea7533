"""Studies: methods, runs, running them, and result files."""
