"""Sparse rows for tests, on every version of SciPy that is supported: `random_array` came with 1.12."""

import numpy as np
import scipy.sparse as sp


def random_csr(shape, density):
    return sp.csr_array(sp.random(*shape, density=density, format="csr", random_state=np.random.default_rng(0)))
