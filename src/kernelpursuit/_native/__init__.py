"""Kernel blocks and products with them, in C++ where it was built and in NumPy elsewhere.

A kernel is ``(kind, p0, p1)`` on inputs that already carry their feature scales. With ``s = ||x - c||^2``,
``t = x . c``, ``r = sqrt(2 s)``:

==================== ======================================= ==========================
kind                 value                                   parameters
==================== ======================================= ==========================
rbf                  exp(-s)
laplacian            exp(-sum_k abs(x_k - c_k))
matern12             exp(-r)
matern32             (1 + sqrt(3) r) exp(-sqrt(3) r)
matern52             (1 + sqrt(5) r + 5 r^2/3) exp(-sqrt(5) r)
rational_quadratic   (1 + s / p0)^(-p0)                      p0 > 0
polynomial           (t + p0)^p1                             p1 a positive whole number
linear               t
sigmoid              tanh(t + p0)                            p0
==================== ======================================= ==========================

Several formulas make one kernel as steps ``(kind, p0, p1, columns)`` in postfix order. Inputs then hold the columns of
every formula side by side, `columns` for each feature, and the steps ``("sum", 0, 0, 0)``, ``("product", 0, 0, 0)`` and
``("multiple", p0, 0, 0)`` combine the values that come before them.

The first six are stationary. For these an atom may have a factor f, which multiplies s (the sum of absolute
differences, for the Laplacian kernel), as if gamma were f times as large.

Inputs are float32 or float64 (the same for rows and centres), of any memory order, and are never changed.
Kernel values have the inputs' type; sums are accumulated and returned in float64. In C++ a kernel value has
the same bits in every operation, and a sum has the same bits for any number of threads, atoms or other
vectors, stored or not.

The environment variable ``KERNELPURSUIT_BACKEND`` ("native" or "numpy") chooses the backend when this module
is imported, and ``KERNELPURSUIT_ISA`` lowers the instruction set of the native one.
"""

from kernelpursuit._native.backend import BACKEND, ISA, max_threads, warn_once_if_slow
from kernelpursuit._native.blocks import block, distances, pullback, transform
from kernelpursuit._native.products import examine, matvec, rmatvec, sqnorms, stored_examine, stored_rmatvec
from kernelpursuit._native.spec import KINDS
from kernelpursuit._native.steps import absorb, criteria, rotate, sweep

__all__ = [
    "BACKEND",
    "ISA",
    "KINDS",
    "absorb",
    "block",
    "criteria",
    "distances",
    "examine",
    "matvec",
    "max_threads",
    "pullback",
    "rmatvec",
    "rotate",
    "sqnorms",
    "stored_examine",
    "stored_rmatvec",
    "sweep",
    "transform",
    "warn_once_if_slow",
]
