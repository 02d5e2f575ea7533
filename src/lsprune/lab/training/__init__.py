"""Training one model on one pruned graph."""
