"""The choice of backend, threads, interrupts, and refusals."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from folding import every_case

from kernelpursuit import _native
from kernelpursuit._native import backend

RBF = ("rbf", 0.0, 0.0)


def run(code, **env):
    """Run code in a Python of its own, with variables set; return (exit code, output, errors)."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


REPORT = "from kernelpursuit import _native as k; print(k.BACKEND, k.ISA, k.max_threads())"


class TestEnvironment:
    def test_numpy_can_be_asked_for(self):
        code = REPORT + "\nimport warnings; warnings.simplefilter('error'); k.warn_once_if_slow()"
        assert run(code, KERNELPURSUIT_BACKEND="numpy", OMP_NUM_THREADS="3") == (0, "numpy numpy 3", "")

    def test_native_is_the_default(self, core):
        status, out, _ = run(REPORT, KERNELPURSUIT_BACKEND="", KERNELPURSUIT_ISA="", OMP_NUM_THREADS="3")
        assert (status, out) == (0, f"native {core.isas()[0]} 3")

    @pytest.mark.parametrize("name", ["KERNELPURSUIT_BACKEND", "KERNELPURSUIT_ISA"])
    def test_unknown_values_are_refused(self, core, name):
        status, _, err = run(REPORT, **{name: "fortran"})
        assert status != 0
        assert f"ValueError: {name}='fortran'" in err.splitlines()[-1]

    def test_instruction_sets_agree(self, core):
        code = """
import numpy as np
from kernelpursuit import _native as k
rng = np.random.default_rng(0)
X, C, V = rng.normal(size=(3000, 4)), rng.normal(size=(6, 4)), rng.normal(size=(1, 3000))
for kind in k.KINDS:
    kernel = (kind, 1.5, 2)
    print(k.ISA, *(f"{x:.17g}" for x in k.rmatvec(kernel, C, X, V)[0]), sep=",")
"""
        results = {}
        for isa in core.isas():
            status, out, err = run(code, KERNELPURSUIT_ISA=isa)
            assert status == 0, err
            rows = [line.split(",") for line in out.splitlines()]
            assert {row[0] for row in rows} == {isa}
            results[isa] = np.array([row[1:] for row in rows], float)
        for values in results.values():
            np.testing.assert_allclose(values, results[core.isas()[0]], rtol=1e-11, atol=1e-11)

    def test_a_missing_core_is_mentioned_once(self):
        code = """
import sys, warnings
sys.modules["kernelpursuit._native._core"] = None
from kernelpursuit import _native as k
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    k.warn_once_if_slow()
    k.warn_once_if_slow()
print(k.BACKEND, len(caught), caught[0].category.__name__, caught[0].message)
"""
        status, out, err = run(code, KERNELPURSUIT_BACKEND="")
        assert status == 0, err
        assert out.startswith("numpy 1 UserWarning kernelpursuit runs on NumPy because")

    def test_a_missing_core_that_was_asked_for_is_refused(self):
        code = "import sys; sys.modules['kernelpursuit._native._core'] = None\n" + REPORT
        status, _, err = run(code, KERNELPURSUIT_BACKEND="native")
        assert status != 0
        assert "ValueError: KERNELPURSUIT_BACKEND='native'" in err


LONG_RUNS = {
    "rmatvec": "k.rmatvec(rbf, X, X, np.ones((1, len(X))))",
    "matvec": "k.matvec(rbf, X, X, np.ones((len(X), 1)))",
    "sqnorms": "k.sqnorms(('rational_quadratic', 1, 0), X, X)",
}


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("operation", LONG_RUNS)
def test_ctrl_c_is_answered_within_a_second(core, operation):
    # A child of a background job ignores SIGINT, unless it asks for it.
    code = f"""
import signal
import time
import numpy as np
from kernelpursuit import _native as k
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).normal(size=(200000, 100))
rbf = ("rbf", 0.0, 0.0)
print("ready", flush=True)
start = time.perf_counter()
try:
    {LONG_RUNS[operation]}
except KeyboardInterrupt:
    print("interrupted", flush=True)
k.block(rbf, X[:3], X[:1000])
print("usable", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    # A child that does not answer is killed, and its next line is empty.
    limit = threading.Timer(60.0, child.kill)
    limit.start()
    try:
        assert child.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        sent = time.perf_counter()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline().strip() == "interrupted"
        assert time.perf_counter() - sent < 1.0
        assert child.stdout.readline().strip() == "usable"
        assert child.wait(30) == 0
    finally:
        limit.cancel()
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_can_compute(core):
    code = """
import os
import numpy as np
from kernelpursuit import _native as k
X = np.random.default_rng(0).normal(size=(4000, 4))
before = k.sqnorms(("rbf", 0, 0), X[:200], X, n_threads=2)
pid = os.fork()
after = k.sqnorms(("rbf", 0, 0), X[:200], X, n_threads=2)
if pid == 0:
    os._exit(0 if np.array_equal(before, after) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    status, out, err = run(code)
    assert (status, out) == (0, "0"), err


def test_the_gil_is_released(core):
    code = """
import threading
import numpy as np
from kernelpursuit import _native as k
X = np.random.default_rng(0).normal(size=(20000, 20))
work = lambda: k.rmatvec(("rbf", 0, 0), X[:3000], X, np.ones((1, 20000)), n_threads=1)
thread = threading.Thread(target=work)
thread.start()
ticks = 0
while thread.is_alive():
    ticks += 1
    thread.join(0.001)
print(ticks > 20)
"""
    assert run(code)[:2] == (0, "True")


def test_threads(core, monkeypatch):
    assert backend.resolve_threads(None) == _native.max_threads() >= 1
    assert backend.resolve_threads(np.int64(3)) == 3
    monkeypatch.setattr(backend, "_forked", True)
    assert backend.resolve_threads(3) == 1


X, C, V = np.ones((4, 2)), np.ones((3, 2)), np.ones((1, 4))
READ_ONLY = np.empty((3, 4))
READ_ONLY.flags.writeable = False


@every_case(
    ("call", "sentence"),
    [
        (lambda: _native.block(("cubic", 0, 0), C, X), "kernel kind 'cubic' is not known"),
        (lambda: _native.block("rbf", C, X), "give (kind, p0, p1)"),
        (lambda: _native.block(("rational_quadratic", 0, 0), C, X), "p0=0.0 is not usable"),
        (lambda: _native.block(("polynomial", 0, 1.5), C, X), "p1=1.5 is not usable"),
        (lambda: _native.block(("polynomial", 0, 0), C, X), "p1=0.0 is not usable"),
        (lambda: _native.block(("sigmoid", np.nan, 0), C, X), "p0=nan is not usable"),
        (lambda: _native.block(RBF, C[0], X), "C has 1 dimensions"),
        (lambda: _native.block(RBF, C, X.astype(int)), "X has type int64"),
        (lambda: _native.block(RBF, C, X.astype(">f8")), "X has type >f8"),
        (lambda: _native.block(RBF, C.astype(np.float32), X), "give both the same"),
        (lambda: _native.block(RBF, C[:, :1], X), "X has 2 features and C has 1"),
        (lambda: _native.block(RBF, C, X, out=np.empty((4, 3))), "out does not fit"),
        (lambda: _native.block(RBF, C, X, out=np.empty((3, 4), np.float32)), "out does not fit"),
        (lambda: _native.block(RBF, C, X, out=np.empty((4, 3)).T), "C-contiguous, writable"),
        (lambda: _native.block(RBF, C, X, out=READ_ONLY), "C-contiguous, writable"),
        (lambda: _native.block(RBF, C, C[:2], out=C), "out shares memory"),
        (lambda: _native.block(RBF, C, X, n_threads=0), "n_threads=0 is not usable"),
        (lambda: _native.block(RBF, C, X, n_threads=1.5), "n_threads=1.5 is not usable"),
        (lambda: _native.matvec(RBF, X, C, np.ones((4, 1))), "coef has 4 rows; it must have 3"),
        (lambda: _native.matvec(RBF, X, C, np.ones(3)), "coef has 1 dimensions"),
        (lambda: _native.matvec(RBF, X, C, np.ones((3, 1), complex)), "coef has type complex128"),
        (lambda: _native.rmatvec(RBF, C, X, V.T), "V has 1 columns; it must have 4"),
        (lambda: _native.sqnorms(RBF, C, X, V), "weights must be a vector"),
        (lambda: _native.sqnorms(RBF, C, X, np.ones(3)), "weights has 3 entries; it must have 4"),
        (lambda: _native.stored_rmatvec(np.ones((3, 5)), V), "V has 4 columns; it must have 5"),
        (lambda: _native.stored_rmatvec(np.ones((3, 4), int), V), "block has type int64"),
    ],
)
def test_bad_arguments_get_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=r"^[^\n]*[.]$") as caught:
        call()
    assert sentence in str(caught.value)
