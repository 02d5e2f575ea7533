"""Reports of results: records -> comparison -> {markdown, html, figures}.

`records` reads and checks the lines of result files. `comparison` turns them into comparisons of methods, with
`statistics`, `timing`, `recommendation`, `trade_off` and `neighbourhood_sizes` for the numbers. `markdown`, `html` and
`figures` only render; `method_styles` and `formatting` are what they share.
"""

from lsprune.lab.reporting.html.page import Written, make_report, write_report

__all__ = ["Written", "make_report", "write_report"]
