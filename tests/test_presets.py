"""Presets as parts of the library: their parameters, and the classifiers that they make."""

import re

import numpy as np
import pytest
from folding import every_case

from kernelpursuit import presets

LAM = 1e-2
WITH_CLASSIFIER = [preset for preset in presets.ALL if not preset.not_for_classes]
FOR_NUMBERS = [preset for preset in WITH_CLASSIFIER if preset is not presets.kmp_tanh]


def test_presets_are_unfitted_and_take_any_parameter():
    for preset in presets.ALL:
        model = preset(max_atoms=3, gamma=0.25, n_jobs=1)
        assert (model.max_atoms, model.gamma, model.n_jobs) == (3, 0.25, 1)
        assert not hasattr(model, "path_")
        assert model.fit_intercept is False
        assert preset(fit_intercept=True).fit_intercept is True


def three_classes(n=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.7, 0.7])], X[::7] + 0.1


class TestClassifiers:
    """`preset.classifier()` is the preset on the codes -1 and +1, each class against the rest."""

    @pytest.mark.parametrize("preset", FOR_NUMBERS, ids=lambda preset: preset.name)
    def test_two_classes_are_numbers(self, preset):
        X, labels, new = three_classes()
        settings = {"gamma": 1.0, "alpha": LAM, "max_atoms": 10, "random_state": 0}
        of_labels = preset.classifier(**settings).fit(X, labels == "b")
        of_codes = preset(**settings).fit(X, np.where(labels == "b", 1.0, -1.0))
        np.testing.assert_array_equal(of_labels.path_.atom, of_codes.path_.atom)
        assert of_labels.path_.swaps == of_codes.path_.swaps
        np.testing.assert_array_equal(of_labels.path_.cost, of_codes.path_.cost)
        np.testing.assert_array_equal(of_labels.decision_function(new), of_codes.predict(new))
        np.testing.assert_array_equal(of_labels.predict(new), of_codes.predict(new) > 0)

    @pytest.mark.parametrize("preset", WITH_CLASSIFIER, ids=lambda preset: preset.name)
    def test_of_more_each_is_told_from_the_rest(self, preset):
        X, labels, _ = three_classes()
        settings = {"gamma": 1.0, "alpha": LAM, "max_atoms": 6, "random_state": 0}
        model = preset.classifier(**settings).fit(X, labels)
        assert model.score(X, labels) > 0.6
        for name, one in zip(model.classes_, model.estimators_, strict=True):
            alone = preset.classifier(**settings).fit(X, labels == name)
            np.testing.assert_array_equal(one.path_.atom, alone.path_.atom)

    @every_case("preset", WITH_CLASSIFIER, ids=lambda preset: preset.name)
    def test_keyword_arguments_override_all(self, preset):
        given = {
            "gamma": 0.5, "stop": "cv", "fit_intercept": True, "candidates": 5, "loss": "hinge",
            "multi_class": "shared", "selection": "residual", "update": "minres", "penalty": "nugget", "exchange": True,
            "kernel": "laplacian", "class_weight": "balanced", "alpha": 0.3,
        }  # fmt: skip
        params = preset.classifier(**given).get_params(deep=False)
        assert {name: params[name] for name in given} == given
        with pytest.raises(TypeError, match="gama"):
            preset.classifier(gama=1)

    @every_case("preset", WITH_CLASSIFIER, ids=lambda preset: preset.name)
    def test_settings_are_those_of_the_preset(self, preset):
        params, numbers = preset.classifier().get_params(deep=False), preset().get_params(deep=False)
        for name in ("kernel", "gamma", "selection", "update", "exchange", "candidates", "penalty", "alpha", "stop"):
            assert params[name] == numbers[name], name
        assert (params["fit_intercept"], params["multi_class"]) == (False, "ovr")
        assert params["loss"] == ("squared" if preset is not presets.kmp_tanh else preset().loss)

    def test_the_classifier_of_tanh_is_the_preset(self):
        assert presets.kmp_tanh.classifier(max_atoms=4).get_params() == presets.kmp_tanh(max_atoms=4).get_params()

    @pytest.mark.parametrize("preset", [presets.tcr, presets.oga, presets.oga_ptr], ids=lambda preset: preset.name)
    def test_what_has_no_meaning_for_classes_says_so(self, preset):
        with pytest.raises(
            ValueError, match=rf"^presets\.{preset.name} has no classifier, since [^\n.]*; use "
        ) as refusal:
            preset.classifier(max_atoms=5)
        cure = re.search(r"use presets\.(\w+)\.classifier\((?:stop='([\w-]+)')?\)", str(refusal.value))
        X, labels, _ = three_classes()
        stop = {"stop": cure[2]} if cure[2] else {}
        model = getattr(presets, cure[1]).classifier(max_atoms=5, **stop).fit(X, labels == "b")
        assert model.score(X, labels == "b") > 0.6

    @pytest.mark.parametrize("preset", [presets.greedy_qr, presets.greedy_qr_exchange], ids=lambda preset: preset.name)
    def test_a_row_of_weight_two_is_two_rows(self, preset):
        """In the order of the rows, by which ties are broken: at first, all residuals of labels are equal."""
        X, labels, new = three_classes()
        times = np.arange(60) % 3 + 1
        rows = np.repeat(np.arange(60), times)
        given = {"gamma": 1.0, "max_atoms": 8}
        weighted = preset.classifier(**given).fit(X, labels, sample_weight=times)
        repeated = preset.classifier(**given).fit(X[rows], labels[rows])
        np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-9)
        shuffled = np.random.default_rng(1).permutation(len(rows))
        other = preset.classifier(**given).fit(X[rows][shuffled], labels[rows][shuffled])
        assert np.abs(other.decision_function(new) - repeated.decision_function(new)).max() > 1e-3
