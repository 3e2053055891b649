"""What only a process of its own shows: pipes that close, Ctrl-C, what is imported, and a missing typer."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kernelpursuit

# Ctrl-C as in a terminal, whoever started the tests.
START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from kernelpursuit.cli import main; main()"
)


def start(*words, code=START, **options):
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def ended(*words, **options):
    process = start(*words, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """More rows than a pipe holds predictions of, and than are learned in a moment."""
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    y = np.sin(3 * X[:, 0]) + np.cos(2 * X[:, 1] * X[:, 2]) + 0.1 * rng.normal(size=len(X))
    np.savez(folder / "rows.npz", X=X, y=y)
    kernelpursuit.KernelPursuitRegressor(gamma=1.0, max_atoms=5).fit(X[:100], y[:100]).save(folder / "m.kp")
    return folder


def test_a_reader_that_has_had_enough(many):
    process = start("predict", many / "m.kp", many / "rows.npz")
    assert process.stdout.readline() == '"prediction"\n'
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_table_to_a_reader_that_has_had_enough(many):
    process = start("path", many / "m.kp", "--all")
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_ctrl_c_in_a_fit(many, tmp_path):
    (tmp_path / "m.kp").write_bytes(b"an older model")
    process = start("fit", many / "rows.npz", "-o", tmp_path / "m.kp")
    assert process.stderr.readline().startswith("regression, since")
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err == "error: interrupted; no file was written.\n"
    assert os.listdir(tmp_path) == ["m.kp"]
    assert (tmp_path / "m.kp").read_bytes() == b"an older model"


def test_help_version_and_completion_import_nothing_heavy(tmp_path):
    report = (
        "import sys, atexit; "
        "atexit.register(lambda: sys.stderr.write(' '.join({one.partition('.')[0] for one in sys.modules}))); " + START
    )
    complete = {
        **os.environ,
        "_KERNELPURSUIT_COMPLETE": "complete_bash",
        "COMP_WORDS": "kernelpursuit pre",
        "COMP_CWORD": "1",
    }
    code = report.replace("main()", "sys.argv[0] = 'kernelpursuit'; main()")
    cases = [(["--help"], None), (["fit", "--help"], None), (["--version"], None), ([], complete)]
    for words, environment in cases:
        returned, out, err = ended(*words, code=code, env=environment)
        assert returned == 0, err
        loaded = set(err.split())
        assert "kernelpursuit" in loaded
        assert not loaded & {"numpy", "scipy", "sklearn", "pyarrow", "pandas"}, words
        assert out.split()[:1] == (
            ["predict"] if environment else ["kernelpursuit"] if words == ["--version"] else ["Usage:"]
        )


def test_without_typer():
    blocked = "import sys; sys.modules['typer'] = None; " + START
    assert ended("--help", code=blocked) == (1, "", "The command line needs typer: pip install 'kernelpursuit[cli]'.\n")


def test_as_a_module():
    command = [sys.executable, "-m", "kernelpursuit.cli", "--version"]
    assert subprocess.check_output(command, text=True) == f"kernelpursuit {kernelpursuit.__version__}\n"
