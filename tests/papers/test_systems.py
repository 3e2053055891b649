"""The presets against the papers: every one of them beside a literal transcription of the algorithm it names."""

from dataclasses import replace

import numpy as np
import pytest
from folding import every_case
from papers import hagiwara, kmp, nair, xu, zhang
from papers.systems import LAM, N_STEPS, PROBLEMS, SYSTEMS, WIDE, WITH_TARGETS, WITH_WEIGHTS, System, gram, make, scaled
from papers.trace import ROUNDING, norm

from kernelpursuit import presets
from kernelpursuit.stopping import AIC, MDL
from kernelpursuit.updates import Orthogonal, Stagewise

# How many times the bound of first order on what rounding does is allowed.
SLACK = 10.0


def dense(path, k, n_atoms):
    """Weights of all atoms after k steps."""
    atoms = path.atoms(k)
    assert len(set(atoms.tolist())) == len(atoms)
    weights = np.zeros((n_atoms, path.coef(k).shape[1]))
    weights[atoms] = path.coef(k)
    return weights


def assert_follows(system, data, at_least=N_STEPS):
    """Same picks, swaps, weights, fitted values and residual norms as the paper, while its choices are clear.

    A refit may differ by what the condition number of its columns makes of rounding; the other updates have no such
    number and may differ by rounding alone.
    """
    model, trace = system.fit(data), system.trace(data)
    path, n_clear = model.path_, trace.n_clear
    assert n_clear >= min(at_least, system.n_steps)
    assert path.atom[:n_clear].tolist() == trace.picks[:n_clear]
    assert [swap for swap in map(tuple, path.swaps) if swap[0] <= n_clear] == [
        swap for swap in trace.swaps if swap[0] <= n_clear
    ]
    D = system.columns(data)[: len(data.K)]
    for k in range(n_clear + 1):
        wanted = trace.weights[k]
        got = dense(path, k, len(data.K))
        assert set(trace.atoms(k)) <= set(path.atoms(k).tolist()) <= {*trace.picks[:k], *(s[2] for s in trace.swaps)}
        fit_noise, weight_noise = tolerances(system, data, wanted, k)
        np.testing.assert_allclose(D @ got, D @ wanted, rtol=0, atol=fit_noise)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=weight_noise)
        own = norm(data.root[:, None] * data.y.reshape(len(data.y), -1) - D @ wanted)
        assert path.residual_norm[k] == pytest.approx(own, rel=1e-9, abs=fit_noise)
    return model, trace


def tolerances(system, data, w, k):
    """How far fitted values and weights may be off (see `trace.refit_noise`)."""
    atoms, columns = np.flatnonzero(w.any(axis=1)), system.columns(data)
    size = norm(data.root[:, None] * data.y.reshape(len(data.y), -1))
    if not system.refits or not len(atoms):
        noise = SLACK * (k + 1) ** 2 * ROUNDING * (size + norm(columns) * norm(w))
        return noise, noise
    s = np.linalg.svd(columns[:, atoms], compute_uv=False)
    moved = SLACK * ROUNDING * s[0] * (norm(w) + size / s[-1])
    return moved + SLACK * ROUNDING * size, moved / s[-1] + SLACK * ROUNDING * norm(w)


@every_case("problem", PROBLEMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_preset_is_its_paper(name, problem):
    system, data = SYSTEMS[name], make(*PROBLEMS[problem])
    model, trace = assert_follows(system, data, at_least=10)
    assert model.intercept_ == 0.0
    if trace.n_clear == system.n_steps:
        f = gram(data.new, data.X, data.gamma) @ trace.weights[-1][:, 0]
        bound = np.abs(data.y).max() if "oga" in name else np.inf
        slack = tolerances(system, data, trace.weights[-1], system.n_steps)[0]
        np.testing.assert_allclose(model.predict(data.new), xu.truncate(f, bound), atol=1e-9 + slack)


@every_case("problem", WIDE)
@pytest.mark.parametrize("name", SYSTEMS)
def test_wide_kernels(name, problem):
    data = make(*WIDE[problem])
    assert np.linalg.cond(data.K) > 0.3 * float(problem[:4])
    assert_follows(SYSTEMS[name], data, at_least=4)


@pytest.mark.parametrize("problem", ["2 features, noisy", "5 features, spiky"])
@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_sample_weights(name, problem):
    assert_follows(SYSTEMS[name], make(*PROBLEMS[problem], weighted=True), at_least=10)


@pytest.mark.parametrize("problem", ["2 features, noisy", "5 features, spiky"])
@pytest.mark.parametrize("name", WITH_TARGETS)
def test_several_targets(name, problem):
    assert_follows(SYSTEMS[name], make(*PROBLEMS[problem], n_targets=3), at_least=10)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_precomputed_gram_matrix(name):
    data = make(*PROBLEMS["5 features, spiky"])
    system = SYSTEMS[name]
    of_kernel, of_matrix = system.fit(data).path_, system.fit(data, kernel="precomputed").path_
    np.testing.assert_array_equal(of_matrix.atom, of_kernel.atom)
    assert list(of_matrix.swaps) == list(of_kernel.swaps)
    np.testing.assert_allclose(of_matrix.cost, of_kernel.cost, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_without_memory_for_any_column(name, weighted):
    data = make(*PROBLEMS["3 features"], weighted=weighted and name in WITH_WEIGHTS)
    system = SYSTEMS[name]
    stored, streamed = (system.fit(data, memory_budget=budget).path_ for budget in (2**30, 0))
    np.testing.assert_array_equal(streamed.atom, stored.atom)
    assert list(streamed.swaps) == list(stored.swaps)
    for k in (1, system.n_steps // 2, system.n_steps):
        np.testing.assert_array_equal(streamed.atoms(k), stored.atoms(k))
        np.testing.assert_allclose(streamed.coef(k), stored.coef(k), rtol=1e-8, atol=1e-10)


class TestBasic:
    def test_takes_an_atom_again_where_it_must(self):
        """Two atoms at an angle: each step leaves something for the other, and weights add up to the solution."""
        D = np.array([[1.0, 0.6], [0.0, 0.8], [0.0, 0.0]])
        y = np.array([2.0, 1.5, 0.5])
        model = presets.kmp_basic(kernel="precomputed", max_atoms=30).fit(D, y)
        trace = kmp.basic(D, y, 30)
        assert model.path_.atom.tolist() == trace.picks == [1, 0] * 15
        assert sorted(model.path_.atoms(30).tolist()) == [0, 1]
        for k in range(31):
            np.testing.assert_allclose(dense(model.path_, k, 2), trace.weights[k], rtol=1e-12)
        steps = np.diff([dense(model.path_, k, 2)[:, 0] for k in range(31)], axis=0)
        assert (np.count_nonzero(steps, axis=1) == 1).all()
        np.testing.assert_allclose(dense(model.path_, 30, 2)[:, 0], np.linalg.lstsq(D, y, rcond=None)[0], rtol=1e-5)

    @pytest.mark.parametrize("shrinkage", [0.1, 0.5])
    def test_shrinkage_takes_a_part_of_every_step(self, shrinkage):
        data = make(*PROBLEMS["2 features, noisy"])
        path = SYSTEMS["kmp_basic"].fit(data, update=Stagewise(shrinkage=shrinkage)).path_
        r = data.y
        for k, atom in enumerate(path.atom):
            d = data.K[:, atom]
            assert np.abs(data.K.T @ r / norm(data.K, axis=0)).max() == pytest.approx(abs(d @ r) / norm(d), rel=1e-9)
            r = r - shrinkage * d * (d @ r) / (d @ d)
            assert path.residual_norm[k + 1] == pytest.approx(norm(r), rel=1e-10)


class TestReciprocalCondition:
    @pytest.mark.parametrize("problem", [*PROBLEMS, *WIDE])
    def test_as_singular_values_say(self, problem):
        """Their rounding is absolute, so that the ratio is known to some eps over itself."""
        data = make(*{**PROBLEMS, **WIDE}[problem])
        trace, path = SYSTEMS["greedy_qr"].trace(data), SYSTEMS["greedy_qr"].fit(data).path_
        assert np.isnan(path.rcond[0])
        n_clear = trace.n_clear
        assert n_clear >= 4
        np.testing.assert_allclose(path.rcond[1 : n_clear + 1], trace.rcond[1 : n_clear + 1], rtol=1e-6, atol=1e-13)

    @pytest.mark.parametrize("rcond", [1e-2, 1e-4])
    def test_ends_the_iterations(self, rcond):
        data = make(*WIDE["1e13"])
        model = presets.greedy_qr(gamma=data.gamma, max_atoms=60, update=Orthogonal(rcond=rcond)).fit(data.X, data.y)
        trace = nair.greedy_qr(data.K.astype(np.longdouble), data.y, 60, rcond=rcond)
        assert 2 < trace.n_steps < 60
        assert trace.n_clear == trace.n_steps
        assert model.path_.atom.tolist() == trace.picks
        assert (model.path_.rcond[1:] >= rcond).all()
        assert "rcond" in model.path_.end_reason

    def test_not_reached(self):
        data = make(*PROBLEMS["5 features, spiky"])
        trace = nair.greedy_qr(data.K, data.y, 15, rcond=1e-8)
        model = SYSTEMS["greedy_qr"].fit(data, update=Orthogonal(rcond=1e-8))
        assert model.path_.atom.tolist() == trace.picks
        assert len(trace.picks) == 15


class TestMRX:
    @pytest.mark.parametrize("problem", [*PROBLEMS, *WIDE])
    def test_residuals_never_grow(self, problem):
        data = make(*{**PROBLEMS, **WIDE}[problem])
        path = SYSTEMS["mrx"].fit(data, n_steps=25).path_
        assert (np.diff(path.residual_norm) <= 0).all()
        assert path.atom[0] == SYSTEMS["greedy_qr"].fit(data).path_.atom[0] == np.argmax(np.abs(data.y))

    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_weights_recomputed_at_the_end(self, problem):
        data = make(*PROBLEMS[problem])
        trace = nair.mrx(data.K.astype(np.longdouble), data.y, 10, refit=True)
        refitted = presets.mrx(gamma=data.gamma, max_atoms=10).fit(data.X, data.y)
        plain = SYSTEMS["mrx"].fit(data, n_steps=10)
        assert trace.n_clear == 10
        assert set(refitted.center_indices_.tolist()) == set(trace.atoms(10).tolist())
        np.testing.assert_array_equal(refitted.path_.atom, plain.path_.atom)
        np.testing.assert_allclose(
            refitted.predict(data.X), data.y - trace.residuals[-1][:, 0].astype(float), atol=1e-9 * norm(data.y)
        )
        assert norm(refitted.predict(data.X) - data.y) < norm(plain.predict(data.X) - data.y)

    def test_exchanges_are_made(self):
        swaps = [SYSTEMS["mrx"].fit(make(seed, 5, 60, 1.0, 0.3)).path_.swaps for seed in (1, 3, 4, 5)]
        assert all(len(each) >= 2 for each in swaps)


class TestExchange:
    @pytest.mark.parametrize("seed", [1, 3, 4, 5, 7])
    def test_a_swap_lowers_the_residual(self, seed):
        """After a swap, it is below what all atoms of the step before with the new one leave."""
        data = make(seed, 5, 60, 1.0, 0.3)
        model, trace = assert_follows(SYSTEMS["greedy_qr_exchange"], data)
        path = model.path_
        assert len(path.swaps) >= 2
        for k, dropped, added in path.swaps:
            kept = [*path.atoms(k - 1).tolist(), int(path.atom[k - 1])]
            r = data.y - data.K[:, kept] @ np.linalg.lstsq(data.K[:, kept], data.y, rcond=None)[0]
            assert path.residual_norm[k] < norm(r)
            assert sorted(path.atoms(k).tolist()) == sorted({*kept, added} - {dropped})
        assert len(trace.swaps) == len(path.swaps)

    @pytest.mark.parametrize("preset", ["greedy_qr_exchange", "mrx"])
    def test_every_model_has_as_many_atoms_as_steps(self, preset):
        data = make(1, 5, 60, 1.0, 0.3)
        path = SYSTEMS[preset].fit(data).path_
        assert path.swaps
        assert [len(path.atoms(k)) for k in range(N_STEPS + 1)] == list(range(N_STEPS + 1))


class TestSparseGP:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_random_atoms_are_refitted(self, weighted):
        data = make(*PROBLEMS["2 features, noisy"], weighted=weighted)
        model = presets.sparse_gp_random(gamma=data.gamma, alpha=LAM, max_atoms=12, random_state=3)
        path = model.fit(data.X, data.y, sample_weight=data.weights).path_
        assert len(set(path.atom.tolist())) == 12
        trace = zhang.random(data.K, data.y, LAM, path.atom.tolist(), data.weights)
        s = np.ones(len(data.y)) if data.weights is None else data.weights
        for k in range(13):
            np.testing.assert_allclose(dense(path, k, 60), trace.weights[k], rtol=1e-7, atol=1e-8)
            cost = 2 * s.sum() * zhang.risk(data.K, data.y, LAM, trace.weights[k][:, 0], data.weights)
            assert path.cost[k] == pytest.approx(cost, rel=1e-9)
        again = model.fit(data.X, data.y, sample_weight=data.weights).path_.atom
        np.testing.assert_array_equal(again, path.atom)
        other = model.set_params(random_state=4).fit(data.X, data.y).path_.atom
        assert other.tolist() != path.atom.tolist()

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_scaling_beats_a_step_without_it(self, problem, weighted):
        """From each state of algorithm 1, its next cost is no more than the best weight for one atom alone gives."""
        data = make(*PROBLEMS[problem], weighted=weighted)
        path = SYSTEMS["sparse_gp_greedy"].fit(data).path_
        s = np.ones(len(data.y)) if data.weights is None else data.weights
        gaps = []
        for k in range(len(path.atom)):
            w = dense(path, k, len(data.K))[:, 0]
            curvature = s @ np.square(data.K) + s.sum() * LAM * np.diag(data.K)
            slope = data.K.T @ (s * (data.y - data.K @ w)) - s.sum() * LAM * (data.K @ w)
            stagewise = path.cost[k] - (np.square(slope) / curvature).max()
            assert path.cost[k + 1] <= stagewise * (1 + 1e-10)
            gaps.append(stagewise - path.cost[k + 1])
        assert max(gaps) > 1e-6 * path.cost[0]

    def test_several_targets_have_weights_and_factors_of_their_own(self):
        """The risks of the targets add up; each step is the best there is for their sum."""
        data = make(*PROBLEMS["1 feature"], n_targets=2)
        path = SYSTEMS["sparse_gp_greedy"].fit(data, n_steps=8).path_
        n, unit, s = len(data.y), np.eye(len(data.K)), np.ones(len(data.y))
        for k, atom in enumerate(path.atom):
            risks = np.zeros(n)
            for y, w in zip(data.y.T, dense(path, k, n).T):
                for i in range(n):
                    beta, alpha = zhang.two_weights(data.K, y, LAM, w, i, s)
                    risks[i] += zhang.risk(data.K, y, LAM, beta * w + alpha * unit[i])
            assert atom == np.argmin(risks)
            assert path.cost[k + 1] == pytest.approx(2 * n * risks[atom], rel=1e-10)

    def test_risk_is_the_cost_over_2n(self):
        data = make(*PROBLEMS["2 features, noisy"])
        for name in ("sparse_gp_greedy", "sparse_gp_kappa", "sparse_gp_subspace"):
            path, trace = SYSTEMS[name].fit(data).path_, SYSTEMS[name].trace(data)
            risks = [zhang.risk(data.K, data.y, LAM, w[:, 0]) for w in trace.weights]
            np.testing.assert_allclose(path.cost, 2 * len(data.y) * np.array(risks), rtol=1e-9)

    def test_kappa_is_59_by_default(self):
        assert presets.sparse_gp_kappa().candidates == 59


class TestHagiwara:
    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_costs_fall_by_c2(self, problem):
        """Eq. 9 for RFS and eq. 17 for OLS, whose cost is that of the orthogonalised coefficients."""
        data = make(*PROBLEMS[problem])
        _, rfs, matrices = hagiwara.rfs(data.K, data.y, LAM, N_STEPS)
        _, ols, _, costs = hagiwara.ols(data.K.astype(np.longdouble), data.y, LAM, N_STEPS)
        size = data.y @ data.y
        np.testing.assert_allclose(-np.diff(SYSTEMS["rfs"].fit(data).path_.cost), rfs, rtol=1e-7, atol=1e-11 * size)
        np.testing.assert_allclose(-np.diff(SYSTEMS["ols"].fit(data).path_.cost), ols, rtol=1e-7, atol=1e-11 * size)
        np.testing.assert_allclose(SYSTEMS["ols"].fit(data).path_.cost, costs, rtol=1e-9)
        errors = hagiwara.leave_one_out(data.y, matrices) / len(data.y)
        np.testing.assert_allclose(SYSTEMS["rfs"].fit(data).path_.loo[1:], errors, rtol=1e-7)

    def test_ols_is_not_rfs(self):
        """They differ where the penalty bites: weights shrink along other directions."""
        data = make(*PROBLEMS["2 features, noisy"])
        rfs, ols = (getattr(presets, name)(gamma=data.gamma, alpha=1.0, max_atoms=8) for name in ("rfs", "ols"))
        difference = rfs.fit(data.X, data.y).predict(data.X) - ols.fit(data.X, data.y).predict(data.X)
        assert norm(difference) > 1e-3 * norm(data.y)

    @pytest.mark.parametrize("noise", [0.05, 0.3, 1.0])
    @pytest.mark.parametrize("seed", range(4))
    def test_tcr(self, seed, noise):
        data = make(seed, 2, 70, 0.5, noise)
        trace, reductions, matrices = hagiwara.rfs(data.K, data.y, 1e-6, 30)
        k, k_lcv, clear = hagiwara.tcr(data.y, reductions, matrices)
        assert clear
        assert trace.n_clear >= k_lcv
        model = presets.tcr(gamma=data.gamma, alpha=1e-6, max_atoms=30).fit(data.X, data.y)
        assert model.n_atoms_ == k
        assert model.center_indices_.tolist() == trace.picks[:k]
        assert k < k_lcv or noise < 1.0

    @pytest.mark.parametrize("seed", [5, 11, 13, 16])
    def test_tcr_counts_the_functions_that_are_left(self, seed):
        """Few rows, on which a threshold for all n functions in place of n_k would keep another number."""
        data = make(seed, 2, 25, 0.5, 0.3)
        _, reductions, matrices = hagiwara.rfs(data.K, data.y, 1e-6, 15)
        k, k_lcv, clear = hagiwara.tcr(data.y, reductions, matrices)
        sigma2 = hagiwara.leave_one_out(data.y, matrices)[k_lcv - 1] / 25
        assert clear
        assert 2 * sigma2 * np.log(25 - k + 1) < reductions[k - 1] < 2 * sigma2 * np.log(25)
        assert presets.tcr(gamma=0.5, alpha=1e-6, max_atoms=15).fit(data.X, data.y).n_atoms_ == k

    def test_tcr_keeps_nothing_of_noise(self):
        """Of ten draws of noise, as many atoms as the paper keeps: none of about six, and hardly any of the others."""
        kept = []
        for seed in range(10):
            data = make(seed, 2, 70, 3.0, 0.0)
            noise = np.random.default_rng(seed).normal(size=70)
            _, reductions, matrices = hagiwara.rfs(data.K, noise, 1e-6, 15)
            model = presets.tcr(gamma=3.0, alpha=1e-6, max_atoms=15).fit(data.X, noise)
            assert model.n_atoms_ == hagiwara.tcr(noise, reductions, matrices)[0], seed
            kept.append(model.n_atoms_)
        assert kept.count(0) >= 3, kept
        assert np.mean(kept) <= 1.5, kept


class TestXu:
    @pytest.mark.parametrize("truncate", ["auto", 0.8])
    def test_predictions_are_truncated(self, truncate):
        data = make(*PROBLEMS["2 features, noisy"])
        trace = xu.oga(data.K, data.y, N_STEPS)
        f = gram(data.new, data.X, data.gamma) @ trace.weights[-1][:, 0]
        M = np.abs(data.y).max() if truncate == "auto" else truncate
        far = SYSTEMS["oga"].fit(data, truncate=truncate)
        np.testing.assert_allclose(far.predict(data.new), xu.truncate(f, M), atol=1e-8)
        fitted = data.y - trace.residuals[-1][:, 0]
        np.testing.assert_allclose(far.predict(data.X), xu.truncate(fitted, M), atol=1e-8)
        assert truncate == "auto" or (np.abs(fitted) > M).any()

    @pytest.mark.parametrize("n", [60, 120])
    @pytest.mark.parametrize("seed", range(4))
    def test_ptr(self, seed, n):
        data = make(seed, 2, n, 0.5, 0.3)
        trace = xu.oga(data.K.astype(np.longdouble), data.y, 20)
        k, clear = xu.ptr(data.y, trace, 2)
        assert clear
        assert trace.n_clear >= k
        model = presets.oga_ptr(gamma=data.gamma).fit(data.X, data.y)
        assert model.n_atoms_ == k
        assert model.center_indices_.tolist() == trace.picks[:k]


class TestLaws:
    """Algorithms that papers have under two names: each preset beside the other paper's transcription."""

    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_prefitting_is_ormp_is_subspace_greedy_without_penalty(self, problem):
        data = make(*PROBLEMS[problem])
        prefit, _ = assert_follows(System("kmp_prefit", scaled(nair.ormp)), data, at_least=10)
        _, trace = assert_follows(System("ormp", scaled(kmp.prefit)), data, at_least=10)
        subspace = presets.sparse_gp_subspace(gamma=data.gamma, alpha=1e-14, max_atoms=N_STEPS).fit(data.X, data.y)
        path, n_clear = prefit.path_, trace.n_clear
        np.testing.assert_array_equal(path.atom[:n_clear], subspace.path_.atom[:n_clear])
        np.testing.assert_allclose(path.residual_norm[:n_clear], subspace.path_.residual_norm[:n_clear], rtol=1e-6)

    @pytest.mark.parametrize("problem", [*PROBLEMS, *WIDE])
    def test_oga_is_backfitting_truncated(self, problem):
        data = make(*{**PROBLEMS, **WIDE}[problem])
        at_least = 10 if problem in PROBLEMS else 4
        assert_follows(System("oga", scaled(kmp.backfit)), data, at_least)
        backfit, _ = assert_follows(System("kmp_backfit", scaled(xu.oga)), data, at_least)
        M = 0.5 * np.abs(data.y).max()
        plain = backfit.predict(data.X)
        assert (np.abs(plain) > M).any()
        np.testing.assert_array_equal(SYSTEMS["oga"].fit(data, truncate=M).predict(data.X), xu.truncate(plain, M))

    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_prefitting_never_loses_the_first_two_steps(self, problem):
        """The first atom is the same; of all second ones, pre-fitting takes the best."""
        data = make(*PROBLEMS[problem])
        prefit, backfit, qr = (SYSTEMS[name].fit(data).path_ for name in ("kmp_prefit", "kmp_backfit", "greedy_qr"))
        assert prefit.atom[0] == backfit.atom[0]
        assert prefit.residual_norm[1] <= qr.residual_norm[1]
        assert prefit.residual_norm[2] <= backfit.residual_norm[2] * (1 + 1e-12)


@pytest.mark.parametrize("name", ["greedy_qr", "greedy_qr nugget", "greedy_qr_exchange nugget", "mrx nugget"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_criteria_are_of_the_columns_or_of_the_function(name, problem):
    """Nair's eq. 10 and 11 of r = y - (K + sigma² I) alpha, and the same of y - K alpha; they differ by a nugget."""
    system, data = SYSTEMS[name], make(*PROBLEMS[problem])
    path, columns = system.fit(data).path_, system.trace(data)
    n = columns.n_clear + 1
    y = data.y.reshape(len(data.y), -1)
    function = replace(columns, residuals=[y - data.K @ weights for weights in columns.weights])
    for trace, residual in ((columns, "columns"), (function, "function")):
        np.testing.assert_allclose(MDL(residual=residual).curve(path)[:n], nair.mdl(trace)[:n], rtol=1e-6)
        np.testing.assert_allclose(AIC("nair", residual=residual).curve(path)[:n], nair.aic(trace)[:n], rtol=1e-6)
    assert (path.column_residual is not None) == ("nugget" in name)
    apart = np.abs(np.subtract(nair.mdl(columns), nair.mdl(function)))[1:n]
    assert (apart.max() > 0.1) == ("nugget" in name)
    np.testing.assert_array_equal(MDL().curve(path), MDL(residual="function").curve(path))
