"""The HTML report: one file that opens from disk and needs no network."""
