"""Training of one model on one pruned graph or dataset."""
