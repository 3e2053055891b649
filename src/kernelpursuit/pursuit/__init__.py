"""The greedy loop and what it is made of; knows arrays and dictionaries, not scikit-learn."""

from kernelpursuit.pursuit.api import Pursuit, check_weights, pursuit_path, resolve_threads, run_pursuit
from kernelpursuit.pursuit.path import PursuitPath

__all__ = ["Pursuit", "PursuitPath", "check_weights", "pursuit_path", "resolve_threads", "run_pursuit"]
