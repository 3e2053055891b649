"""The mutual coherence against the whole matrix of cosines."""

import numpy as np
import pytest
from folding import every_case

from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import KernelAtoms, Precomputed
from kernelpursuit.engine import Engine
from kernelpursuit.kernels import RBF
from kernelpursuit.pursuit import coherence
from kernelpursuit.pursuit.coherence import mutual_coherence
from kernelpursuit.stopping import TR4

N = 40


def literal(D):
    """Of every pair of columns of D."""
    pairs = [(D[:, i], D[:, j]) for i in range(D.shape[1]) for j in range(i)]
    return max(abs(a @ b) / np.sqrt((a @ a) * (b @ b)) for a, b in pairs)


def engine(X, gamma, **settings):
    return Engine(KernelAtoms(RBF(gamma)).resolve(X, 1.0), X, memory_budget=0, **settings)


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(-2, 2, size=(N, 3))


@every_case("nugget", [0.0, 0.7])
@every_case("weighted", [False, True])
@every_case("block", [1, 7, 39, 40, 1000])
def test_every_pair_of_atoms(rows, block, weighted, nugget, monkeypatch):
    monkeypatch.setattr(coherence, "MOST_ATOMS", block)
    weights = np.random.default_rng(1).uniform(0.1, 3, N) if weighted else None
    K = np.exp(-2 * np.square(rows[:, None] - rows).sum(axis=-1)) + nugget * np.eye(N)
    D = K if weights is None else np.sqrt(weights)[:, None] * K
    found = mutual_coherence(engine(rows, 2.0, weights=weights, nugget=nugget))
    assert found == pytest.approx(literal(D), rel=1e-12)
    assert 0.3 < found < 0.999


def test_blocks_are_no_larger_than_said(rows, monkeypatch):
    """No more than two blocks of columns are asked for at a time, and none is the whole dictionary."""
    monkeypatch.setattr(coherence, "BLOCK_BYTES", 8 * N * 5)
    made, asked = engine(rows, 2.0), []
    columns = made.columns
    monkeypatch.setattr(made, "columns", lambda atoms: asked.append(len(atoms)) or columns(atoms))
    mutual_coherence(made)
    assert max(asked) == 5
    assert len(asked) == 8 * 9 // 2


@pytest.mark.parametrize("n", [2, 3, 50])
def test_copies_are_one_atom(n):
    """A row that is given twice makes no dictionary more coherent, however its columns round."""
    X = np.random.default_rng(n).normal(size=(n, 2))
    twice = np.vstack([X, X])
    weights = np.full(n, 2.0)
    once = mutual_coherence(engine(X, 0.7, weights=weights))
    assert mutual_coherence(engine(twice, 0.7)) == pytest.approx(once, rel=1e-10)
    assert once < 1


def test_atoms_that_are_nearly_copies_are_two():
    X = np.array([[0.0], [1e-3], [5.0]])
    found = mutual_coherence(engine(X, 1.0))
    assert 0 < 1 - found < 1e-5


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_units_and_signs_do_not_matter(scale):
    D = np.array([[1.0, -1.0, 0.0, 3.0], [0.0, 1.0, 0.0, 0.1]]) * [scale, 1.0, 1.0, -1.0]
    atoms = Precomputed(D)
    made = Engine(atoms.resolve(D, 1.0), D, memory_budget=0)
    assert mutual_coherence(made) == pytest.approx(3 / np.sqrt(9.01), rel=1e-12)


def test_one_atom_and_none_that_is_not_zero():
    for D in (np.ones((3, 1)), np.zeros((3, 2))):
        made = Engine(Precomputed(D).resolve(D, 1.0), D, memory_budget=0)
        assert mutual_coherence(made) == 0.0


def test_a_path_has_it_where_a_rule_asks(rows):
    y = np.sin(rows[:, 0])
    settings = {"gamma": 2.0, "max_atoms": 4, "penalty": None}
    assert pursuit_path(rows, y, stop="tr4", **settings).coherence is None
    asked = pursuit_path(rows, y, stop=TR4(mu="auto"), candidates=np.arange(0, N, 2), **settings)
    K = np.exp(-2 * np.square(rows[:, None] - rows[::2]).sum(axis=-1))
    assert asked.coherence == pytest.approx(literal(K), rel=1e-12)
