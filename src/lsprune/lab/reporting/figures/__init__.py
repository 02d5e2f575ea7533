"""Figures drawn by matplotlib: for the Markdown page, and for print."""
