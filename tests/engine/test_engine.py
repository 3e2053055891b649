"""Products with the dictionary against dense matrices, in whatever memory they are given."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from folding import every_case

import kernelpursuit.engine.engine
from kernelpursuit import _native, pursuit_path
from kernelpursuit.dictionary import Constant, KernelAtoms, Precomputed, as_dictionary, widths
from kernelpursuit.engine import Engine, free_memory, resolve_budget
from kernelpursuit.kernels import RBF, Linear, Polynomial

N = 23


def asymmetric(A, C):
    return np.cos(A @ C.T) + A[:, :1]


DICTIONARIES = {
    "rbf": RBF(gamma=0.7),
    "widths": widths("rbf", [0.1, 2.0]),
    "callable": asymmetric,
    "mixed": KernelAtoms(Linear(gamma=1.0)) + Constant(),
}


def make(name, X, **settings):
    resolved = as_dictionary(DICTIONARIES[name] if isinstance(name, str) else name).resolve(X)
    settings = {"memory_budget": 2**30, "n_threads": 1} | settings
    return Engine(resolved, X, **settings)


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


@pytest.fixture(params=[False, True], ids=["float64", "float32"])
def is_exact(request, monkeypatch):
    monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", 0 if request.param else 10**9)
    return not request.param


@every_case("budget", [0, 5 * N * 8, 2**20])
@every_case("nugget", [0.0, 0.3])
@every_case("weighted", [False, True], ids=["unweighted", "weighted"])
@every_case("name", DICTIONARIES)
def test_products_against_the_dense_matrix(name, weighted, nugget, budget, is_exact, X, rng):
    if nugget and name == "mixed":
        name = "rbf"  # a nugget needs every atom at a training row
    weights = rng.uniform(0.2, 3.0, size=N) if weighted else None
    engine = make(name, X, weights=weights, nugget=nugget, memory_budget=budget)
    resolved = engine.dictionary
    everything = np.arange(engine.n_atoms)
    D = resolved.block(resolved.rows(X), everything).copy()
    if nugget:
        D[everything, resolved.training_rows] += nugget
    D *= 1.0 if weights is None else np.sqrt(weights)
    tolerance = 1e-12 if is_exact else 3e-6
    V = rng.normal(size=(4, N))
    assert engine.is_exact is is_exact
    np.testing.assert_allclose(engine.sqnorms(), np.square(D).sum(axis=1), rtol=tolerance)
    np.testing.assert_allclose(engine.correlate(V), V @ D.T, atol=tolerance * np.abs(D).max() * N)
    some = np.array([0, 3, 6, engine.n_atoms - 1])
    # The native core has the same bits for some atoms as for all; a BLAS may round in another way.
    rounding = 0.0 if _native.BACKEND == "native" else 1e-13 * np.abs(engine.correlate(V)).max()
    np.testing.assert_allclose(engine.correlate(V, some), engine.correlate(V)[:, some], rtol=0, atol=rounding)
    assert engine.correlate(V, some[:0]).shape == (4, 0)
    atoms = np.array([7, 0, engine.n_atoms - 1])
    np.testing.assert_allclose(engine.columns(atoms), D[atoms], rtol=1e-13)
    assert engine.columns(atoms).dtype == np.float64


@every_case("budget", [0, 1, N * 4, 5 * N * 8 + 1, 10**6])
@every_case("name", DICTIONARIES)
def test_the_kept_block_stays_within_the_budget(name, budget, is_exact, X):
    engine = make(name, X, memory_budget=budget)
    engine.correlate(np.ones((1, N)))
    itemsize = 8 if is_exact else 4
    assert engine.n_kept == min(engine.n_atoms, budget // (N * itemsize))
    assert engine._values._kept.nbytes <= budget
    assert engine._values._kept.dtype.itemsize == itemsize


def test_nothing_is_kept_before_it_is_needed(X):
    engine = make("rbf", X)
    engine.columns(np.array([1]))
    engine.sqnorms()
    assert engine.n_kept == 0


def test_the_vectors_stay_as_they_were(X, rng):
    engine = make("rbf", X, weights=np.full(N, 2.0))
    V = rng.normal(size=(2, N))
    before = V.copy()
    engine.correlate(V)
    np.testing.assert_array_equal(V, before)


class TestFloat32Range:
    """Values that float32 cannot hold, or holds in few digits, are scored in float64 at any size."""

    @pytest.fixture(autouse=True)
    def _float32_if_possible(self, monkeypatch):
        monkeypatch.setattr(kernelpursuit.engine.engine, "FLOAT64_UP_TO", 0)

    @pytest.mark.parametrize(
        ("kernel", "scale", "is_exact"),
        [
            (Linear(gamma=1.0), 1.0, False),
            (Linear(gamma=1.0), 1e25, True),
            (Linear(gamma=1.0), 1e-25, True),
            (Polynomial(gamma=1.0, degree=9), 1e3, True),
            (RBF(gamma=1.0), 1.0, False),
        ],
        ids=["plain", "huge", "tiny", "degree", "rbf"],
    )
    def test_fallback(self, kernel, scale, is_exact, X):
        engine = make(kernel, X * scale)
        assert engine.is_exact is is_exact

    @pytest.mark.parametrize("scale", [1e-30, 1e30])
    def test_atoms_do_not_depend_on_units(self, scale, rng):
        D, y = rng.normal(size=(40, 60)), rng.normal(size=40)
        settings = {"kernel": "precomputed", "penalty": None, "max_atoms": 12}
        path, scaled = pursuit_path(D, y, **settings), pursuit_path(D * scale, y, **settings)
        np.testing.assert_array_equal(scaled.atom, path.atom)
        np.testing.assert_allclose(scaled.cost, path.cost, rtol=1e-9)

    def test_one_huge_column_is_enough(self, rng):
        D = rng.normal(size=(20, 30))
        D[:, 4] *= 1e38
        assert make(Precomputed(), D).is_exact

    def test_overflow_has_a_sentence(self, X):
        with pytest.raises(ValueError, match="overflows"):
            make(Polynomial(gamma=1.0, degree=400), X * 1e3).sqnorms()


class TestBudget:
    def test_default_is_a_quarter_of_free_memory(self):
        assert 0 < resolve_budget(None) < free_memory()
        assert resolve_budget(None) == pytest.approx(free_memory() / 4, rel=0.5)

    @pytest.mark.parametrize("budget", [0, 1, 2.5e8, np.int64(7)])
    def test_numbers_are_taken(self, budget):
        assert resolve_budget(budget) == int(budget)

    @pytest.mark.parametrize("budget", [-1, np.nan, np.inf, "1GB", True])
    def test_others_are_refused(self, budget):
        with pytest.raises(ValueError, match="memory_budget"):
            resolve_budget(budget)


@pytest.mark.skipif(sys.platform == "win32", reason="the resource module is not there")
@pytest.mark.parametrize("budget_mb", [0, 40])
def test_peak_memory_of_a_fit(budget_mb):
    """A dictionary of 4000 x 4000 values, 64 MB in float32, in the budget and 20 MB for everything else.

    Measured in a process of its own, against the peak of the same process before the fit.
    """
    script = f"""
        import resource, sys
        import numpy as np
        from kernelpursuit import pursuit_path

        def peak():
            scale = 1 if sys.platform == "darwin" else 1024
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale

        rng = np.random.default_rng(0)
        X = rng.normal(size=(4000, 4))
        y = np.sin(X[:, 0]) + X[:, 1]
        pursuit_path(X[:200], y[:200], max_atoms=5, memory_budget=0)
        before = peak()
        pursuit_path(X, y, max_atoms=10, memory_budget={budget_mb} * 2**20)
        print(peak() - before)
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, env=environment
    )
    assert int(result.stdout) < (budget_mb + 20) * 2**20
