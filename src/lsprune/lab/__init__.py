"""Experiments: datasets, generators, models, studies and their statistics."""
