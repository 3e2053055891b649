"""Searches over settings of an estimator that share what their fits have in common.

criterion       the criterion that compares fits, read on their paths
grid            the values of the grid
table           the results, one row for each fit, and the fits that failed
progress        progress on stderr
length_scales   the search
"""

from kernelpursuit.search.length_scales import LengthScaleSearch

__all__ = ["LengthScaleSearch"]
