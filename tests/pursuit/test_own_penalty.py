"""A penalty of one's own, against direct solutions of the penalised normal equations; and the ready-made as objects."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from plain import plain_classifier, plain_regressor
from sklearn.base import clone

from kernelpursuit import pursuit_path
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Logistic
from kernelpursuit.penalties import BY_NAME, OLS, RKHS, Nugget, Penalty, Ridge

# What follows, up to the next line of this kind, is the example of docs/architecture.md. ------------------------------


@dataclass(frozen=True, repr=False)
class FirstDifference(Penalty):
    """`alpha sum (w_i - w_j)²` over neighbouring centres on a line: weights that vary slowly."""

    def diagonal(self, atoms):
        rank = self.rank(atoms)
        return np.where((rank == 0) | (rank == len(rank) - 1), 1.0, 2.0)

    def between(self, atoms, first, second):
        rank = self.rank(atoms)
        apart = np.abs(rank[first][:, None] - rank[second])
        return np.where(apart == 0, self.diagonal(atoms)[second], -1.0 * (apart == 1))

    @staticmethod
    def rank(atoms):
        return np.argsort(np.argsort(atoms.dictionary.centers[:, 0]))


@dataclass(frozen=True, eq=False, repr=False)
class WeightedRidge(Penalty):
    """`alpha sum p_j w_j²`, with one p for each atom of the dictionary."""

    p: np.ndarray

    def diagonal(self, atoms):
        return self.p[atoms.numbers]


# ----------------------------------------------------------------------------------------------------------------------

N, ALPHA, GAMMA = 40, 0.3, 30.0


@pytest.fixture
def x():
    return np.random.default_rng(3).permutation(np.linspace(0, 3, N))[:, None]


@pytest.fixture
def y(x):
    return np.sin(4 * x[:, 0]) + 0.2 * np.random.default_rng(4).normal(size=N)


@pytest.fixture
def s():
    return np.random.default_rng(5).uniform(0.2, 2.0, size=N)


def matrix(penalty, x):
    """P over all atoms at the rows, written out."""
    if isinstance(penalty, WeightedRidge):
        return np.diag(penalty.p)
    order = np.argsort(x[:, 0])
    D = np.zeros((N - 1, N))
    D[np.arange(N - 1), order[:-1]], D[np.arange(N - 1), order[1:]] = 1.0, -1.0
    return D.T @ D


OWN = [FirstDifference(), WeightedRidge(np.random.default_rng(6).uniform(0, 2, size=N) ** 3)]
# Atoms that cost nothing, the first and some others.
FREE = WeightedRidge(np.where(np.arange(N) % 5, 1.0, 0.0))


def solved(x, y, s, P, atoms, intercept):
    """Weights and cost of the penalised least-squares problem over some atoms."""
    D = np.hstack([np.ones((N, int(intercept))), RBF(gamma=GAMMA)(x)[:, atoms]])
    L = np.zeros((D.shape[1], D.shape[1]))
    L[int(intercept) :, int(intercept) :] = ALPHA * P[np.ix_(atoms, atoms)]
    w = np.linalg.solve(D.T @ (s[:, None] * D) + L, D.T @ (s * y))
    return w, float(s @ np.square(y - D @ w) + w @ L @ w)


@pytest.mark.parametrize("penalty", [*OWN, FREE], ids=["differences", "one each", "some free"])
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_are_those_of_the_normal_equations(x, y, s, penalty, intercept):
    settings = {"gamma": GAMMA, "alpha": ALPHA, "fit_intercept": intercept, "sample_weight": s}
    path = pursuit_path(x, y, penalty=penalty, max_atoms=N, **settings)
    assert path.n_steps == N, "the matrix is singular over all atoms, their columns are not"
    P = matrix(penalty, x)
    for k in range(1, N + 1, 3):
        w, cost = solved(x, y, s, P, path.atoms(k), intercept)
        np.testing.assert_allclose(path.weights(k)[:, 0], w, rtol=1e-6, atol=1e-7 * np.abs(w).max())
        assert path.cost[k] == pytest.approx(cost, rel=1e-8)


@pytest.mark.parametrize("penalty", [*OWN, FREE], ids=["differences", "one each", "some free"])
def test_the_atom_that_is_picked_lowers_the_penalised_cost_most(x, y, s, penalty):
    path = pursuit_path(x, y, penalty=penalty, max_atoms=8, gamma=GAMMA, alpha=ALPHA, sample_weight=s)
    P = matrix(penalty, x)
    for k in range(8):
        picked = list(path.atoms(k))
        costs = [np.inf if j in picked else solved(x, y, s, P, [*picked, j], False)[1] for j in range(N)]
        assert path.atom[k] == np.argmin(costs)


@pytest.mark.parametrize("penalty", OWN, ids=["differences", "one each"])
@pytest.mark.parametrize("update", ["stagewise", "rescale"])
def test_other_updates_have_the_cost_of_their_weights(x, y, penalty, update):
    path = pursuit_path(x, y, penalty=penalty, update=update, max_atoms=12, gamma=GAMMA, alpha=ALPHA)
    P, K = matrix(penalty, x), RBF(gamma=GAMMA)(x)
    for k in (1, 5, 12):
        w = np.zeros(N)
        w[path.atoms(k)] = path.coef(k)[:, 0]
        assert path.cost[k] == pytest.approx(np.square(y - K @ w).sum() + ALPHA * w @ P @ w, rel=1e-10)
    assert (np.diff(path.cost) < 0).all()


@pytest.mark.parametrize("penalty", OWN, ids=["differences", "one each"])
def test_another_loss_is_stationary(x, y, penalty):
    labels = np.where(y > 0, 1.0, -1.0)
    model = plain_classifier(gamma=GAMMA, alpha=ALPHA, penalty=penalty, loss="logistic", stop="max", max_atoms=10)
    model.fit(x, labels)
    atoms, P = model.center_indices_, matrix(penalty, x)
    by_score = Logistic().gradient(labels[None], model.decision_function(x)[None])[0]
    of_loss = RBF(gamma=GAMMA)(x)[:, atoms].T @ by_score
    of_penalty = 2 * ALPHA * P[np.ix_(atoms, atoms)] @ model.coef_.ravel()
    np.testing.assert_allclose(of_loss, -of_penalty, atol=1e-8)


def test_numbers_are_those_of_the_whole_dictionary(x, y):
    """Where candidates and rows of weight zero leave atoms out, the others keep their entries."""
    penalty, weights = OWN[1], np.where(np.arange(N) % 7, 1.0, 0.0)
    candidates = np.arange(3, N, 2)
    path = pursuit_path(
        x, y, penalty=penalty, gamma=GAMMA, alpha=ALPHA, candidates=candidates, sample_weight=weights, max_atoms=6
    )
    w, cost = solved(x, y, weights, matrix(penalty, x), path.atoms(6), False)
    np.testing.assert_allclose(path.weights(6)[:, 0], w, rtol=1e-8)
    assert path.cost[6] == pytest.approx(cost, rel=1e-10)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_is_short_for_its_object(x, y, name):
    by_name, by_object = (
        plain_regressor(gamma=GAMMA, penalty=penalty, alpha=0.1, stop="loo", max_atoms=10).fit(x, y)
        for penalty in (name, BY_NAME[name]())
    )
    np.testing.assert_array_equal(by_name.path_.atom, by_object.path_.atom)
    np.testing.assert_array_equal(by_name.path_.cost, by_object.path_.cost)
    np.testing.assert_array_equal(by_name.predict(x), by_object.predict(x))


def test_objects_are_parameters_like_others(x, y):
    model = plain_regressor(gamma=GAMMA, penalty=FirstDifference(), stop="max", max_atoms=4)
    assert clone(model).penalty == FirstDifference() == model.get_params()["penalty"]
    fitted = pickle.loads(pickle.dumps(clone(model).fit(x, y)))
    np.testing.assert_array_equal(fitted.predict(x), model.fit(x, y).predict(x))
    assert fitted.penalty == model.penalty
    assert Ridge() == Ridge() != RKHS()
    assert hash(OLS()) == hash(OLS())
    assert [repr(penalty) for penalty in (Ridge(), RKHS(), Nugget(), OLS())] == [
        "Ridge()",
        "RKHS()",
        "Nugget()",
        "OLS()",
    ]
    assert repr(WeightedRidge(np.ones(2))) == "WeightedRidge(p=array([1., 1.]))"
    assert "penalty=FirstDifference()" in repr(model)


def test_more_atoms_after_a_warm_start_continue_the_path(x, y):
    model = plain_regressor(gamma=GAMMA, penalty=FirstDifference(), alpha=ALPHA, stop="max", warm_start=True)
    longer = model.set_params(max_atoms=4).fit(x, y).set_params(max_atoms=9).fit(x, y).path_
    np.testing.assert_array_equal(longer.cost, plain_regressor(
        gamma=GAMMA, penalty=FirstDifference(), alpha=ALPHA, stop="max", max_atoms=9
    ).fit(x, y).path_.cost)  # fmt: skip


class Wrong(Penalty):
    """A matrix that is none."""

    def __init__(self, diagonal, between=None):
        self._diagonal, self._between = diagonal, between

    def diagonal(self, atoms):
        return np.full(len(atoms), self._diagonal) if np.isscalar(self._diagonal) else self._diagonal

    def between(self, atoms, first, second):
        return np.where(np.equal.outer(first, second), self._diagonal, self._between)


class OnlyRefitted(Ridge):
    allowed_updates = ("orthogonal",)
    for_any_loss = False


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty": Wrong(np.ones(3))}, r"`diagonal` of penalty=Wrong\(\) has shape \(3,\) where \(40,\) is wanted"),
        ({"penalty": Wrong(-1.0, 0.0)}, r"`diagonal` of penalty=Wrong\(\) .* negative"),
        ({"penalty": Wrong(1.0, np.nan)}, r"`between` of penalty=Wrong\(\) .* no numbers"),
        ({"penalty": Wrong(1.0, -2.0)}, r"penalty=Wrong\(\) is not positive semidefinite"),
        ({"penalty": Ridge}, r"penalty=Ridge is a class; call it, as in penalty=Ridge\(\)\."),
        ({"penalty": "ridg"}, r"penalty='ridg' is not known; did you mean 'ridge'\?"),
        (
            {"penalty": OnlyRefitted(), "update": "rescale"},
            r"^penalty=OnlyRefitted\(\) needs update='orthogonal', since",
        ),
        ({"penalty": OnlyRefitted(), "loss": "huber"}, r"^loss='huber' needs penalty='ridge', 'rkhs' or None"),
        ({"penalty": OLS(), "update": "rescale"}, r"^penalty=OLS\(\) needs update='orthogonal' alone"),
        (
            {"penalty": FirstDifference(), "update": "minres", "selection": "residual"},
            r"^update='minres' needs penalty",
        ),
        ({"penalty": RKHS(), "kernel": lambda X, C: X @ C.T - 1}, r"^penalty=RKHS\(\) needs a symmetric positive semi"),
    ],
)
def test_refused_in_a_sentence(x, y, settings, said):
    with pytest.raises(ValueError, match=said):
        pursuit_path(x, y, **{"gamma": "scale", "max_atoms": 5, **settings})


class WeightedByHand(Penalty):
    """A penalty with an `__init__` of its own, and no dataclass."""

    def __init__(self, p, power=1.0):
        self.p, self.power = p, power

    def diagonal(self, atoms):
        return np.full(len(atoms), self.p**self.power)


def test_penalties_of_a_grid_are_told_apart():
    found = [repr(penalty) for penalty in (WeightedByHand(1.0), WeightedByHand(2.0, power=3.0))]
    assert found == ["WeightedByHand(p=1.0)", "WeightedByHand(p=2.0, power=3.0)"]
