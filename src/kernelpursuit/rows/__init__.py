"""Rows of data, a block at a time: where they come from, what a pass over them tells, and which of them differ.

source      blocks of rows, as often as asked, from arrays, sparse matrices and memory maps
statistics  counts, means, spreads and ranges that add up over blocks
distinct    which rows differ, in a few bytes for each
opening     a source from whatever holds rows: files, tables, arrays, functions
table       rows of tables with named columns; `columns` chooses them, `parts`, `files` and `streams` read them
arrays      rows of arrays that are sliced; `called` has those that a function yields, `paired` targets from elsewhere
"""

from kernelpursuit.rows.distinct import FEWEST_ROWS, Distinct, distinct_numbers
from kernelpursuit.rows.opening import is_source, open_rows
from kernelpursuit.rows.source import ArraySource, MappedSource, RowBlock, RowSource, block_size, dense, slices
from kernelpursuit.rows.statistics import Statistics

__all__ = [
    "FEWEST_ROWS",
    "ArraySource",
    "Distinct",
    "MappedSource",
    "RowBlock",
    "RowSource",
    "Statistics",
    "block_size",
    "dense",
    "distinct_numbers",
    "is_source",
    "open_rows",
    "slices",
]
