"""The greedy loop and what it is made of; knows arrays and dictionaries, not scikit-learn."""

from kernelpursuit.pursuit.api import Pursuit, as_fitted_loss, pursuit_path, resolve_threads, run_pursuit
from kernelpursuit.pursuit.measure import Measure
from kernelpursuit.pursuit.objective import Objective
from kernelpursuit.pursuit.path import PursuitPath, Script
from kernelpursuit.pursuit.problem import check_held_out, check_weights, held_out_rows
from kernelpursuit.pursuit.products import inner_products, product, subtract_products
from kernelpursuit.pursuit.settings import Settings
from kernelpursuit.pursuit.threads import one_blas_thread
from kernelpursuit.pursuit.watch import ALL_ROWS, Ended, Watch

__all__ = [
    "ALL_ROWS",
    "Ended",
    "Measure",
    "Objective",
    "Pursuit",
    "PursuitPath",
    "Script",
    "Settings",
    "Watch",
    "as_fitted_loss",
    "check_held_out",
    "check_weights",
    "held_out_rows",
    "inner_products",
    "one_blas_thread",
    "product",
    "pursuit_path",
    "resolve_threads",
    "run_pursuit",
    "subtract_products",
]
