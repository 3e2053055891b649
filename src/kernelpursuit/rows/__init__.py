"""Rows of data, a block at a time: where they come from, what a pass over them tells, and which of them differ.

source      blocks of rows, as often as asked, from arrays, sparse matrices and memory maps
survey      what a first pass tells: that rows are usable, how many, their classes or range, and a sample of them
sample      a sample that does not depend on the blocks
prepare     what is done to every block before a fit sees it
statistics  counts, means, spreads and ranges that add up over blocks
distinct    which rows differ, in a few bytes for each
opening     a source from whatever holds rows: files, tables, arrays, functions
table       rows of tables with named columns; `columns` chooses them, `parts`, `files` and `streams` read them
arrays      rows of arrays that are sliced; `called` has those that a function yields, `paired` targets from elsewhere
"""

from kernelpursuit.rows.distinct import FEWEST_ROWS, Distinct, distinct_numbers
from kernelpursuit.rows.opening import is_source, open_rows
from kernelpursuit.rows.prepare import Prepared
from kernelpursuit.rows.sample import keys_of, sample_numbers, sampled_places
from kernelpursuit.rows.source import ArraySource, MappedSource, RowBlock, RowSource, block_size, dense, slices
from kernelpursuit.rows.statistics import Statistics
from kernelpursuit.rows.survey import Extremes, Survey, SurveyedSource, survey

__all__ = [
    "FEWEST_ROWS",
    "ArraySource",
    "Distinct",
    "Extremes",
    "MappedSource",
    "Prepared",
    "RowBlock",
    "RowSource",
    "Statistics",
    "Survey",
    "SurveyedSource",
    "block_size",
    "dense",
    "distinct_numbers",
    "is_source",
    "keys_of",
    "open_rows",
    "sample_numbers",
    "sampled_places",
    "slices",
    "survey",
]
