"""Exact integer arithmetic: counter-based random numbers, the normal table, quantisation, weighted sampling."""
