"""What a release needs beside code: one version, files that say the same, and wheels that are checked."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from release import contents, verdict, versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version():
    assert versions.disagreements() == []


def test_versions_that_differ_are_named(tmp_path, monkeypatch):
    for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "conda/recipe.yaml", "docs/cite.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "7.8.9"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n")
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    named = ["CITATION.cff", "conda/recipe.yaml", "docs/cite.md", "CHANGELOG.md"]
    assert [one.split()[0] for one in versions.disagreements()] == named
    assert any("begins with 'Unreleased'" in one for one in versions.disagreements(released=True))


def test_a_tag_is_that_of_the_version():
    version = versions.declared()
    assert versions.disagreements(tag=f"v{version}") == versions.disagreements()
    for tag in (version, "v0.0.0"):
        assert f"the tag is {tag}, but" in versions.disagreements(tag=tag)[0]


def test_what_was_not_checked_is_no_release(monkeypatch):
    monkeypatch.setattr(verdict, "disagreements", lambda released: [])
    assert verdict.verdict([]) == f"ready to be tagged v{versions.declared()}"
    assert verdict.verdict(["tests"]).endswith("not ready to be tagged\n  not checked: tests")
    monkeypatch.setattr(verdict, "disagreements", lambda released: ["CHANGELOG.md begins with 'Unreleased'"])
    assert verdict.verdict([]).endswith("not ready to be tagged\n  not done: CHANGELOG.md begins with 'Unreleased'")


def test_oldest_versions_are_of_all_that_users_install():
    import floor_versions

    assert set(floor_versions.GROUPS) == PROJECT["optional-dependencies"].keys() - {"docs", "bench", "dev", "all"}


def test_what_workflows_use_is_named_by_version():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: (\S+)", path.read_text()):
            assert re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", action), f"{path.name} uses {action}"
    assert re.search(r"cibuildwheel==\d", (ROOT / ".github" / "workflows" / "wheels.yml").read_text())


def test_recipe_asks_for_the_same_dependencies():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
    needed = {re.sub(r"(?=>)", " ", one, count=1) for one in PROJECT["dependencies"]}
    assert set(recipe["requirements"]["run"]) == needed | {f"python {PROJECT['requires-python']}"}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]


def test_forms_and_workflows_can_be_read():
    """Fields that GitHub needs are there, and what workflows run exists."""
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text())
        if path.name != "config.yml":
            assert form["name"], path
            assert form["description"], path
            assert all({"type", "attributes"} <= part.keys() for part in form["body"]), path
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    scripts = {script for command in commands for script in re.findall(r"(?:release|tests)/\w+\.py", command)}
    assert scripts == {"release/contents.py", "release/versions.py", "tests/smoke.py"}
    assert all((ROOT / script).is_file() for script in scripts)


def test_citation_names_the_five_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PROJECT["license"]
    first_authors = [paper["authors"][0]["family-names"] for paper in citation["references"]]
    assert first_authors == ["Vincent", "Nair", "Zhang", "Hagiwara", "Xu"]
    page = (ROOT / "docs" / "cite.md").read_text().casefold()
    assert all(" ".join(paper["title"].casefold().split()) in page for paper in citation["references"])


@pytest.fixture
def wheel(tmp_path):
    """Make a wheel with all that belongs into one, with files more or fewer."""

    def make(*more, without=()):
        path = tmp_path / "kernelpursuit-1.0-cp311-cp311-linux_x86_64.whl"
        names = contents.of_package(".py", *contents.WANTED) | {"kernelpursuit/_native/_core.so", *more}
        names |= {f"kernelpursuit-1.0.dist-info/licenses/licenses/{path.name}" for path in ROOT.glob("licenses/*.txt")}
        with zipfile.ZipFile(path, "w") as archive:
            for name in [*names, "kernelpursuit-1.0.dist-info/licenses/LICENSE"]:
                if name not in without:
                    archive.writestr(name, "")
        return path

    return make


def test_contents_of_a_wheel(wheel):
    assert contents.faults(wheel()) == []
    missing = ("kernelpursuit/py.typed", "kernelpursuit/_native/_core.so")
    assert contents.faults(wheel(without=missing)) == ["it lacks kernelpursuit/py.typed", "it lacks the native core"]
    licence = "kernelpursuit-1.0.dist-info/licenses/licenses/libgomp.txt"
    assert contents.faults(wheel(without=(licence,))) == ["it lacks licenses/libgomp.txt"]
    assert contents.faults(wheel("tests/test_x.py")) == ["it has tests/test_x.py"]
    assert contents.faults(wheel("kernelpursuit/_native/core.cpp")) == ["it has kernelpursuit/_native/core.cpp"]


def test_contents_of_a_source_distribution(tmp_path):
    path = tmp_path / "kernelpursuit-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("src", "pyproject.toml", "CMakeLists.txt", "README.md"):
            archive.add(ROOT / name, f"kernelpursuit-1.0/{name}")
    assert contents.faults(path) == ["it lacks LICENSE", "it lacks PKG-INFO"]


def test_smoke(tmp_path, monkeypatch):
    """What wheels are tried with passes here."""
    import smoke

    monkeypatch.chdir(tmp_path)
    smoke.check(tmp_path)


def families(licence):
    """Which of the usual licences words or an expression name, whatever their version."""
    return set(re.findall(r"BSD|MIT|APACHE|MPL|PSF", licence.upper()))


def test_licences_are_up_to_date(monkeypatch):
    """Each package is on the page with what it is needed for and the licence that its metadata tell, old or new."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    import make_licences

    page = make_licences.PAGE.read_text()
    assert page.startswith(make_licences.HEAD), "run docs/make_licences.py"
    assert page.endswith(make_licences.TAIL), "run docs/make_licences.py"
    rows = dict(re.findall(r"^\| ([\w-]+) \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE))
    declared = make_licences.declared()
    assert {name: rows.get(name) for name in declared} == {name: ", ".join(use) for name, use in declared.items()}
    for name, licence in make_licences.written().items():
        if name in declared:
            assert families(licence), f"{name} has no licence that we know"
            told = make_licences.installed(name)
            assert not told or families(told) <= families(licence), f"{name} now has {told}"
