"""Every preset beside the transcription of the paper it is named after, and the data on which they are compared."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from papers import hagiwara, kmp, nair, xu, zhang

from kernelpursuit import presets
from kernelpursuit.estimators.checks import check_seed
from kernelpursuit.updates import MinRes, Stagewise

LAM, SIGMA2, SEED, KAPPA = 1e-2, 0.1, 7, 9
N_STEPS = 15
# The library leaves out atoms of which no more than 1e-13 is new, in squares: comparisons end a little before.
NEW = 1e-12

# Data: seed, features, rows, gamma, noise.
PROBLEMS = {
    "1 feature": (0, 1, 40, 4.0, 0.1),
    "2 features, noisy": (1, 2, 60, 0.7, 0.5),
    "3 features": (2, 3, 80, 1.0, 0.2),
    "5 features, smooth": (3, 5, 100, 0.1, 0.0),
    "5 features, spiky": (4, 5, 60, 1.0, 0.3),
    "4 features, near copies": (5, 4, 30, 3.0, 0.3),
}
WIDE = {
    "1e10": (1, 3, 80, 0.05, 0.3),
    "1e13": (1, 3, 80, 0.02, 0.1),
    "1e16, 1 feature": (8, 1, 60, 0.05, 0.1),
    "1e16, smooth": (5, 2, 60, 0.02, 0.0),
}


@dataclass
class Data:
    X: np.ndarray
    y: np.ndarray
    K: np.ndarray
    gamma: float
    weights: np.ndarray | None = None
    new: np.ndarray = field(init=False)

    def __post_init__(self):
        self.new = np.random.default_rng(99).uniform(-2, 2, size=(9, self.X.shape[1]))

    @property
    def root(self):
        return np.ones(len(self.X)) if self.weights is None else np.sqrt(self.weights)


def gram(X, C, gamma):
    return np.exp(-gamma * np.square(X[:, None] - C).sum(axis=-1))


def make(seed, d, n, gamma, noise, n_targets=1, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    Y = [np.sin((t + 2) * X[:, 0]) + 0.5 * X.sum(axis=1) + noise * rng.normal(size=n) for t in range(n_targets)]
    y = Y[0] if n_targets == 1 else np.stack(Y, axis=1)
    return Data(X, y, gram(X, X, gamma), gamma, rng.uniform(0.3, 3.0, size=n) if weighted else None)


def drawn_subsets(n_atoms):
    """S_k as the library draws it at step k."""
    seed = check_seed(SEED)
    return [
        np.random.default_rng([seed, t + 1, 1]).choice(np.arange(n_atoms), size=KAPPA, replace=False)
        for t in range(N_STEPS)
    ]


def drawn(p, left):
    """Columns that are looked at in iteration p, as the library draws them from those that are left."""
    return np.random.default_rng([check_seed(SEED), p, 1]).choice(left, size=min(KAPPA, len(left)), replace=False)


def scaled(transcription):
    """A transcription on rows times the root of their weights, in extended precision."""

    def run(data, n_steps):
        root = data.root.astype(np.longdouble)[:, None]
        y = root * (data.y[:, None] if data.y.ndim == 1 else data.y)
        return transcription(root * data.K, y, n_steps)

    return run


def no_rows(data):
    return np.zeros((0, len(data.K)))


def ridge_rows(data):
    return np.sqrt(LAM) * np.eye(len(data.K))


def rkhs_rows(data):
    values, vectors = np.linalg.eigh(data.K)
    return np.sqrt(np.square(data.root).sum() * LAM * np.maximum(values, 0.0))[:, None] * vectors.T


@dataclass
class System:
    """A preset with its settings; its transcription; what of the penalty belongs under the columns of a refit."""

    preset: str
    paper: Callable
    settings: dict = field(default_factory=dict)
    penalty_rows: Callable = no_rows
    refits: bool = True
    nugget: float = 0.0
    n_steps: int = N_STEPS

    def fit(self, data, n_steps=None, **settings):
        given = {
            "kernel": "rbf",
            "gamma": data.gamma,
            "max_atoms": n_steps or self.n_steps,
            **self.settings,
            **settings,
        }
        if given["kernel"] == "precomputed":
            del given["gamma"]
        X = data.K if given["kernel"] == "precomputed" else data.X
        return getattr(presets, self.preset)(**given).fit(X, data.y, sample_weight=data.weights)

    def trace(self, data, n_steps=None):
        """What the paper does, clear as long as what it takes is numerically new."""
        trace = self.paper(data, n_steps or self.n_steps)
        columns = self.columns(data)
        for k in range(1, trace.n_clear + 1) if self.refits else ():
            taken = [trace.picks[k - 1], *(added for step, _, added in trace.swaps if step == k)]
            if any(share_that_is_new(columns, trace.atoms(k - 1), atom) < NEW for atom in taken):
                trace.n_clear = k - 1
                break
        return trace

    def columns(self, data):
        """Columns on which a refit is plain least squares."""
        D = data.root[:, None] * (data.K + self.nugget * np.eye(len(data.K)))
        return np.vstack([D, self.penalty_rows(data)])


def share_that_is_new(columns, atoms, atom):
    """The part of the squared length of a column that is orthogonal to others."""
    R = np.linalg.qr(columns[:, [*atoms, atom]], mode="r")
    return R[-1, -1] ** 2 / np.square(columns[:, atom]).sum()


def with_nugget(transcription):
    return lambda data, n: transcription((data.K + SIGMA2 * np.eye(len(data.K))).astype(np.longdouble), data.y, n)


def chosen_by(transcription, selection, candidates):
    """A transcription of Nair with a criterion of section 3.1, over all columns or those that are drawn."""
    criterion = {"residual": nair.largest_residual, "correlation": nair.one_dimensional}[selection]
    draw = nair.everyone if candidates == "all" else drawn
    return lambda K, y, n: transcription(K, y, n, criterion=criterion, draw=draw)


def by_criterion(preset, selection, candidates, frame=scaled, **given):
    """A preset of Nair with another criterion, beside its transcription with the same."""
    if preset == "mrx":
        given |= {"update": MinRes(refit=False)}
    settings = {"selection": selection, "candidates": candidates, "random_state": SEED, **given}
    paper = frame(chosen_by(getattr(nair, preset), selection, candidates))
    nugget = SIGMA2 if given.get("penalty") == "nugget" else 0.0
    return System(preset, paper, settings, refits=preset != "mrx", nugget=nugget)


NUGGET = {"penalty": "nugget", "alpha": SIGMA2}
SYSTEMS = {
    "kmp_basic": System("kmp_basic", scaled(kmp.basic), {"update": Stagewise(shrinkage=1.0)}, refits=False, n_steps=40),
    "kmp_backfit": System("kmp_backfit", scaled(kmp.backfit)),
    "kmp_prefit": System("kmp_prefit", scaled(kmp.prefit)),
    "ormp": System("ormp", scaled(nair.ormp)),
    "greedy_qr": System("greedy_qr", scaled(nair.greedy_qr)),
    "greedy_qr_exchange": System("greedy_qr_exchange", scaled(nair.greedy_qr_exchange)),
    "givens": System("greedy_qr_exchange", scaled(lambda K, y, n: nair.greedy_qr_exchange(K, y, n, "givens"))),
    "mrx": System("mrx", scaled(nair.mrx), {"update": MinRes(refit=False)}, refits=False),
    "greedy_qr nugget": System("greedy_qr", with_nugget(nair.greedy_qr), NUGGET, nugget=SIGMA2),
    "greedy_qr_exchange nugget": System(
        "greedy_qr_exchange", with_nugget(nair.greedy_qr_exchange), NUGGET, nugget=SIGMA2
    ),
    "mrx nugget": System(
        "mrx", with_nugget(nair.mrx), {**NUGGET, "update": MinRes(refit=False)}, refits=False, nugget=SIGMA2
    ),
    **{
        f"{preset} {selection} {candidates}": by_criterion(preset, selection, candidates)
        for preset in ("greedy_qr", "greedy_qr_exchange", "mrx")
        for selection, candidates in (("correlation", "all"), ("correlation", KAPPA), ("residual", KAPPA))
    },
    **{
        f"{preset} correlation {KAPPA} nugget": by_criterion(preset, "correlation", KAPPA, with_nugget, **NUGGET)
        for preset in ("greedy_qr_exchange", "mrx")
    },
    "rfs": System(
        "rfs",
        lambda data, n: hagiwara.rfs(data.root[:, None] * data.K, data.root * data.y, LAM, n)[0],
        {"alpha": LAM},
        ridge_rows,
    ),
    "ols": System("ols", scaled(lambda D, y, n: hagiwara.ols(D, y[:, 0], LAM, n)[0]), {"alpha": LAM}),
    "sparse_gp_greedy": System(
        "sparse_gp_greedy",
        lambda data, n: zhang.greedy(data.K, data.y, LAM, n, data.weights),
        {"alpha": LAM},
        refits=False,
        n_steps=25,
    ),
    "sparse_gp_kappa": System(
        "sparse_gp_kappa",
        lambda data, n: zhang.kappa_greedy(data.K, data.y, LAM, drawn_subsets(len(data.K))[:n], data.weights),
        {"alpha": LAM, "candidates": KAPPA, "random_state": SEED},
        refits=False,
    ),
    "sparse_gp_subspace": System(
        "sparse_gp_subspace",
        lambda data, n: zhang.subspace(data.K, data.y, LAM, n, data.weights),
        {"alpha": LAM},
        rkhs_rows,
        n_steps=6,
    ),
    "oga": System("oga", scaled(xu.oga)),
    "fast_oga": System("oga", scaled(xu.fast_oga)),
}
# The largest residual is that of one row, however much it weighs, and a nugget is one of a row.
WITH_WEIGHTS = [name for name in SYSTEMS if not name.startswith(("greedy_qr", "givens", "mrx"))]
WITH_TARGETS = ["kmp_basic", "kmp_backfit", "kmp_prefit", "ormp", "greedy_qr", "greedy_qr nugget", "oga", "fast_oga"]
