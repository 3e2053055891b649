"""Searches over settings of an estimator that share what their fits have in common.

criterion       what one fit is judged by: a curve over its path, at the size that its rule chose
grid            the values that are tried
table           results as fits come in, and those that failed
progress        where the search is, on stderr
length_scales   the search
"""

from kernelpursuit.search.length_scales import LengthScaleSearch

__all__ = ["LengthScaleSearch"]
