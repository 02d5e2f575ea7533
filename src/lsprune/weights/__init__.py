"""Edge weights: which edges a pruner prefers, alike in every neighbourhood."""
