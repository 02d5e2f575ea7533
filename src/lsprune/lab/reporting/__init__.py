"""The report: results in, one HTML file out that shows them, opens from disk and asks the network for nothing."""

from lsprune.lab.reporting.html_page import Written, make_report, write_report

__all__ = ["Written", "make_report", "write_report"]
