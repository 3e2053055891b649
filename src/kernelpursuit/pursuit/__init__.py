"""The greedy loop and what it is made of; knows arrays and dictionaries, not scikit-learn."""

from kernelpursuit._native.threads import one_blas_thread, resolve_threads
from kernelpursuit.pursuit.api import as_fitted_loss, pursuit_path
from kernelpursuit.pursuit.measure import Measure
from kernelpursuit.pursuit.objective import Objective
from kernelpursuit.pursuit.path import PursuitPath, Replay
from kernelpursuit.pursuit.problem import check_held_out, check_weights, held_out_rows
from kernelpursuit.pursuit.products import inner_products, product, subtract_products
from kernelpursuit.pursuit.run import Pursuit, run_pursuit
from kernelpursuit.pursuit.spec import AllRows, LoopSpec, TrainingRows
from kernelpursuit.pursuit.watch import ALL_ROWS, Ended, Watch

__all__ = [
    "ALL_ROWS",
    "AllRows",
    "Ended",
    "LoopSpec",
    "Measure",
    "Objective",
    "Pursuit",
    "PursuitPath",
    "Replay",
    "TrainingRows",
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
