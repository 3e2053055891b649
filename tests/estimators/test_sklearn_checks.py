"""All of scikit-learn's estimator checks, on configurations that take different roads through the code."""

import pytest
from array_api import NEEDS_ARRAY_API, printed_with_array_api
from folding import run_each
from sklearn.utils.estimator_checks import estimator_checks_generator

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.updates import Stagewise

# Some checks have targets of pure noise, of which a constant is the right model, with a word.
pytestmark = pytest.mark.filterwarnings("ignore::kernelpursuit.exceptions.ConstantModelWarning")

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

# Systems of the papers that combine what no other configuration does.
PRESETS = [(presets.greedy_qr_exchange, ()), (presets.mrx, WEIGHTS), (presets.oga_ptr, ())]

# Every check runs on every configuration, but for those whose claim a configuration contradicts.
CONFIGURATIONS = [
    ({}, ()),
    ({"selection": "correlation", "penalty": None, "stop": "tol"}, ()),
    ({"selection": "residual", "penalty": "rkhs", "stop": "one-se"}, ()),
    ({"selection": "random", "fit_intercept": False, "random_state": 0}, ()),
    # A nugget belongs to one row of K: a row given twice has two of them, a row of weight two has one.
    ({"selection": "residual", "penalty": "nugget"}, WEIGHTS),
    # Which rows are drawn depends on their order, which the equivalence check shuffles.
    ({"kernel": "matern32", "candidates": 5, "stop": "validation", "random_state": 0}, WEIGHTS),
    ({"kernel": "polynomial", "gamma": 0.1, "stop": "loo | tol"}, ()),
    ({"kernel": "sigmoid", "stop": "max", "max_atoms": 10, "n_jobs": 1, "memory_budget": 0}, ()),
    ({"kernel": ["rbf", "laplacian"], "warm_start": True}, ()),
    # Columns of atom values need not be as many as rows.
    ({"kernel": "precomputed", "max_atoms": 20}, ("check_nonsquare_error",)),
    ({"update": "stagewise", "selection": "correlation", "penalty": None, "stop": "mdl", "max_atoms": 30}, ()),
    ({"update": Stagewise(shrinkage=0.5), "penalty": "rkhs", "stop": "max", "max_atoms": 20}, ()),
    ({"update": "rescale", "penalty": "rkhs", "stop": "tol", "max_atoms": 30, "truncate": "auto"}, ()),
    # Minimal residual iterations take a row given twice twice, and one of weight two once.
    ({"update": "minres", "selection": "residual", "penalty": None, "stop": "max", "max_atoms": 15}, WEIGHTS),
    ({"selection": "residual", "exchange": True, "max_atoms": 30}, ()),
    # The one-dimensional problems of Nair section 3.1, for drawn rows.
    (
        {
            "update": "minres",
            "selection": "correlation",
            "candidates": 5,
            "exchange": True,
            "penalty": None,
            "stop": "max",
            "max_atoms": 10,
            "random_state": 0,
        },
        WEIGHTS,
    ),
    ({"penalty": "ols", "truncate": "auto", "max_atoms": 30}, ()),
    # Which rows are dealt to a fold depends on their order.
    ({"gamma": "scale", "stop": "cv", "max_atoms": 3, "random_state": 0}, WEIGHTS),
    *((dict(preset(max_atoms=15).get_params()), contradicted) for preset, contradicted in PRESETS),
]

# Few atoms, and mostly nothing learned: most of the time is spent in hundreds of small fits.
PLAIN = {"gamma": "scale"}
CLASSIFIERS = [
    ({"max_atoms": 3}, ()),
    ({"loss": "squared", "max_atoms": 10}, ()),
    ({"multi_class": "ovr", "max_atoms": 2, **PLAIN}, ()),
    ({"loss": "tanh", "update": "stagewise", "stop": "max", "max_atoms": 5}, ()),
    ({"loss": "squared_hinge", "stop": "loo-error", "max_atoms": 2, **PLAIN}, ()),
    ({"loss": "softmax", "max_atoms": 3, **PLAIN}, ()),
    ({"loss": "exponential", "max_atoms": 2, **PLAIN}, ()),
    ({"class_weight": "balanced", "max_atoms": 2, **PLAIN}, ()),
    # All atoms are kept, so that their number is no other width of X that a check expects to be refused.
    ({"kernel": "precomputed", "stop": "max", "max_atoms": 4}, ("check_nonsquare_error",)),
    ({"selection": "correlation", "max_atoms": 2}, ()),
    ({"penalty": "rkhs", "max_atoms": 2}, ()),
]
# Every system that has a meaning for classes. Minimal residual iterations, and drawn rows, as above. The largest
# residual of labels is at first that of every row, and so that of the first, which the equivalence check shuffles.
ORDER_MATTERS = (
    *(presets.mrx, presets.sparse_gp_random, presets.sparse_gp_kappa),
    *(presets.greedy_qr, presets.greedy_qr_exchange),
)
CLASSIFIERS_OF_PRESETS = [
    (preset.classifier(max_atoms=3, random_state=0), WEIGHTS if preset in ORDER_MATTERS else ())
    for preset in presets.ALL
    if not preset.not_for_classes
]
ESTIMATORS = [
    *(
        (f"{number}", KernelPursuitRegressor(**given), not_for)
        for number, (given, not_for) in enumerate(CONFIGURATIONS)
    ),
    *((f"classifier {n}", KernelPursuitClassifier(**given), not_for) for n, (given, not_for) in enumerate(CLASSIFIERS)),
    *((f"preset {n}", configured, not_for) for n, (configured, not_for) in enumerate(CLASSIFIERS_OF_PRESETS)),
]


def checks(array_api, estimators=ESTIMATORS):
    """Yield (estimator, check, name of the check)."""
    for _, configured, contradicted in estimators:
        for estimator, check in estimator_checks_generator(configured, mark=None):
            name = getattr(check, "func", check).__name__
            if name not in contradicted and (name == NEEDS_ARRAY_API) == array_api:
                yield estimator, check, name


@pytest.mark.parametrize("configuration", [pytest.param(given, id=given[0]) for given in ESTIMATORS])
def test_estimator_checks(configuration):
    cases = [(name, (estimator, check)) for estimator, check, name in checks(False, [configuration])]
    assert len(cases) > 40
    run_each(cases, lambda case: case[1](case[0]))


@pytest.mark.skipif(not any(True for _ in checks(True)), reason="this scikit-learn checks no array API input here")
def test_array_api_check():
    printed = printed_with_array_api(__file__)
    assert int(printed) >= len(ESTIMATORS)


if __name__ == "__main__":
    print(sum(check(estimator) is None for estimator, check, _ in checks(True)))
