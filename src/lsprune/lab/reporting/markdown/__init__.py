"""The Markdown page of results, and the tables of single studies."""
