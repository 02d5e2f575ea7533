"""Acceleration: time and memory of training and inference against the share of edges kept."""
