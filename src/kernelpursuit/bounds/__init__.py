"""Bounds on the gap between a sparse model and the exact Gaussian process: theorems, and certificates of a fit.

All risks are in Zhang's units, with alpha for his lambda and n for the sum of the sample weights:

    R(f) = (1/n) sum_i 1/2 (f(x_i) - y_i)² + alpha/2 ||f||²        (Zhang eq. 11)

which is the cost on the path of `penalty="rkhs"`, divided by 2 n. The *gap* of f is R(f) - min R; the minimiser is the
mean of the exact Gaussian process, which has one weight for every training row.
"""

from kernelpursuit.bounds.duality import Certificate, certificate
from kernelpursuit.bounds.greedy import natarajan_theorem_1, orthogonal_greedy_gap, orthogonal_greedy_rate, xu_rate
from kernelpursuit.bounds.orthogonality import rho
from kernelpursuit.bounds.report import GapReport, gap_report
from kernelpursuit.bounds.zhang import zhang_corollary_5_1, zhang_theorem_5_1, zhang_theorem_6_1

__all__ = [
    "Certificate",
    "GapReport",
    "certificate",
    "gap_report",
    "natarajan_theorem_1",
    "orthogonal_greedy_gap",
    "orthogonal_greedy_rate",
    "rho",
    "xu_rate",
    "zhang_corollary_5_1",
    "zhang_theorem_5_1",
    "zhang_theorem_6_1",
]
