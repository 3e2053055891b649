"""Empirical constants of fits, chosen by hand; what the estimate of the time left is like shows whether they serve."""

# Of the time that classes take on all rows, that up to the end of the loop under the squared loss, and of validation.
SQUARE_SHARE, VALIDATED_SHARE = 0.5, 0.75
