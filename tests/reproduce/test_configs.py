"""Every configuration can be run as it stands, and every published table has one."""

from __future__ import annotations

import inspect

import pytest

from reproduce.cells import published
from reproduce.config import CAUSES, ConfigError, chosen_for, function, named, names
from reproduce.data import known

# What the papers have: tables and figures that are made again.
EXPECTED = {
    *(f"nair-table-{i}" for i in range(1, 7)), *(f"nair-figure-{i}" for i in range(1, 8)),
    *(f"kmp-table-{i}" for i in range(1, 4)), *(f"kmp-figure-{i}" for i in (5, 6, 7)),
    "hagiwara-table-2", "hagiwara-table-3", "hagiwara-figure-1",
    *(f"zhang-figure-{i}" for i in range(1, 5)),
    "xu-table-1", "xu-table-2", "xu-table-4", "xu-figure-1", "xu-figure-2",
}  # fmt: skip


def test_all_tables_and_figures_are_there():
    assert set(names()) == EXPECTED
    assert published().keys() <= EXPECTED


@pytest.mark.parametrize("name", sorted(EXPECTED))
class TestConfig:
    def test_what_it_names_exists(self, name):
        config = named(name)
        assert config.title
        assert not config.title.endswith(".")
        assert named(config.runs).experiment or (config.runs == name and config.figure)
        for part in config.parts:
            assert set(part.data) <= known().keys()
            assert 1 <= part.quick <= part.full
        assert {reason.cause for reason in config.reasons} <= CAUSES.keys()
        if config.figure:
            function(config.figure, "figures")
        assert config.figure or name in published()

    def test_its_experiment_takes_its_settings(self, name):
        config = named(name)
        for part in [*config.parts, *(part for variant in config.variants for part in config.varied(variant))]:
            inspect.signature(function(config.experiment, "experiments")).bind(0, **part.settings)

    def test_a_variant_says_why_and_changes_something(self, name):
        config = named(name)
        for variant, given in config.variants.items():
            assert given["why"]
            assert config.varied(variant)
            assert all(part not in config.parts for part in config.varied(variant))


def test_a_table_that_shows_the_run_of_another_has_its_choices():
    assert chosen_for("hagiwara-table-3") == named("hagiwara-table-2").chosen != ()


def test_every_table_says_what_was_chosen_in_view_of_its_numbers():
    """Zhang's two numbers are of the exact solution, for which nothing is left open."""
    assert [name for name in published() if not chosen_for(name)] == ["zhang-figure-1"]


class TestBadConfig:
    @pytest.fixture
    def read(self, tmp_path):
        def reader(text):
            from reproduce import config

            path = tmp_path / "kmp-table-1.toml"
            path.write_text(text)
            return config._read.__wrapped__(path)

        return reader

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(ConfigError, match="No table or figure is called 'nair-table-9'; there are nair-table-1"):
            named("nair-table-9")

    def test_an_unknown_field_is_refused(self, read):
        with pytest.raises(ConfigError, match=r"kmp-table-1\.toml has colour; it may have chosen, data"):
            read('title = "a"\ncolour = "red"\n')

    def test_broken_toml_is_named(self, read):
        with pytest.raises(ConfigError, match=r"kmp-table-1\.toml is not TOML"):
            read("title = ")

    def test_it_must_run_something_and_not_two_things(self, read):
        with pytest.raises(ConfigError, match="neither an experiment, nor `runs`, nor a figure"):
            read('title = "a"\n')
        with pytest.raises(ConfigError, match="it must choose"):
            read('title = "a"\nexperiment = "b:c"\nruns = "xu-table-1"\n')

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('runs = "xu-table-1"\n', "lacks 'title'"),
            ('title = "a"\nexperiment = "b:c"\n', "lacks"),
            ('title = "a"\nexperiment = "b:c"\n[repetitions]\nquik = 3\nfull = 3\n', "lacks 'quick'"),
            ('title = "a"\nexperiment = "b:c"\n[repetitions]\nquick = 0\nfull = 0\n', "needs repetitions"),
            ('title = "a"\nexperiment = "b:c"\ndata = ["bostn"]\n[repetitions]\nquick = 1\nfull = 1\n', "needs bostn"),
            ('title = "a"\nruns = "b"\n[[reasons]]\ncells = "*"\ncause = "papr"\ntext = "c"\n', "none of paper"),
            ('title = "a"\nruns = "b"\nchosen = [{ what = "a" }]\n', "lacks .*values"),
            ('title = "a"\nruns = "b"\nchosen = [{ what = "a", values = 0 }]\n', "a slip in chosen"),
            ('title = "a"\nruns = "b"\nchosen = [{ what = "", values = 1 }]\n', "a slip in chosen"),
            ('title = "a"\nruns = "b"\nchosen = [{ what = "a", values = 1, system = "SVM" }]\n', "a slip in chosen"),
        ],
    )
    def test_what_is_missing_or_wrong_is_named(self, read, text, message):
        with pytest.raises(ConfigError, match=rf"kmp-table-1\.toml .*{message}"):
            read(text)

    def test_a_function_that_is_not_there_is_named(self):
        for reference in ("nar:sinc", "nair:sink"):
            with pytest.raises(ConfigError, match=f"reproduce/experiments/ has no {reference}"):
                function(reference, "experiments")

    def test_a_file_with_another_name_is_refused(self, monkeypatch, tmp_path):
        from reproduce import config

        (tmp_path / "my-table.toml").write_text("")
        monkeypatch.setattr(config, "CONFIGS", tmp_path)
        with pytest.raises(ConfigError, match=r"my-table\.toml is not called after a table or figure"):
            names()

    @pytest.mark.parametrize(
        "entry",
        [
            '[[reasons]]\ncause = "paper"\nwhy = "a"',
            '[[p_values]]\ntest = "resampeld"',
            '[[chosen]]\nwhat = "a"\nvalue = 1',
        ],
    )
    def test_a_slip_in_an_entry_is_named(self, read, entry):
        with pytest.raises(ConfigError, match=r"has a slip in (reasons|p_values|chosen)"):
            read(f'title = "a"\nruns = "xu-table-1"\n{entry}\n')
