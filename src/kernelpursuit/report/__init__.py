"""A page about a fitted model, in one file: `model.report("r.html", X, y)`.

states, criteria        which sizes the page has, what stopping rules keep, what the path says of each
rows, numbers, classes  rows that are given, and what comes of predicting them at every size
curves, atoms           partial dependence, and the table of centres
facts, remarks, usage   what does not depend on the size: words, warnings, lines to copy
content, packing        all of it as JSON, arrays in few bytes
page, page_parts        the template, its style and its script
"""

from kernelpursuit.report.page import write_report

__all__ = ["write_report"]
