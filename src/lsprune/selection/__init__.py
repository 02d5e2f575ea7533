"""Keys into masks: who owns which edges, how many each owner keeps, which ones, and pairs that stay together."""
