"""Long checks of what lsprune promises: `make soak` runs them for an hour, the ordinary tests run a few cases of each.

A check tries generated cases by number, so that a case that fails can be run again by itself:
`python -m soak --checks NAME --first 1234 --cases 1`.
"""
