"""The greedy loop and what it is made of; knows arrays and dictionaries, not scikit-learn."""

from kernelpursuit.pursuit.api import Pursuit, pursuit_path, resolve_threads, run_pursuit
from kernelpursuit.pursuit.path import PursuitPath
from kernelpursuit.pursuit.problem import check_held_out, check_weights
from kernelpursuit.pursuit.settings import Settings

__all__ = [
    "Pursuit",
    "PursuitPath",
    "Settings",
    "check_held_out",
    "check_weights",
    "pursuit_path",
    "resolve_threads",
    "run_pursuit",
]
