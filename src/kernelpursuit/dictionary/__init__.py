"""Dictionaries: the functions that a model may be a sum of."""

from kernelpursuit.dictionary.always import Always, split
from kernelpursuit.dictionary.base import Dictionary
from kernelpursuit.dictionary.distances import DistanceAtoms, share_distances
from kernelpursuit.dictionary.functions import Constant, Functions
from kernelpursuit.dictionary.kernel_atoms import KernelAtoms
from kernelpursuit.dictionary.precomputed import Precomputed
from kernelpursuit.dictionary.trend import LinearTrend
from kernelpursuit.dictionary.union import Union, as_dictionary, widths

__all__ = [
    "Always",
    "Constant",
    "Dictionary",
    "DistanceAtoms",
    "Functions",
    "KernelAtoms",
    "LinearTrend",
    "Precomputed",
    "Union",
    "as_dictionary",
    "share_distances",
    "split",
    "widths",
]
