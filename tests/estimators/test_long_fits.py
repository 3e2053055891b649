"""Long fits survive: checkpoints after a kill, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.callbacks import Callback
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.estimators import sampled
from kernelpursuit.exceptions import InterruptedFitWarning
from kernelpursuit.kernels import RBF, CallableKernel
from kernelpursuit.learning import Learned
from kernelpursuit.pursuit.checkpoint import MAGIC, Checkpoint
from kernelpursuit.rows import ArraySource, sample_numbers

KILLED = """
import os, signal, sys
import numpy as np
from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.estimators import resolve, sampled
from kernelpursuit.pursuit import checkpoint
from kernelpursuit.rows import ArraySource

sampled.ROWS_LEARNED_FROM, sampled.SAMPLED_ABOVE, sampled.ROWS_PICKED_FROM = 5000, 3000, 1000
checkpoint.EVERY = 0.0
checkpoint.Checkpoint.__init__.__defaults__ = (0.0,)
file, kind, dies = sys.argv[1], sys.argv[2], sys.argv[3] == "dies"
rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=9000)

class Dying(ArraySource):
    n_blocks = 0
    def blocks(self, size, start=0):
        if not dies:
            print("from", start)
        for block in super().blocks(min(size, 512), start):
            Dying.n_blocks += 1
            if dies and Dying.n_blocks > 30:  # in the second pass
                os.kill(os.getpid(), signal.SIGKILL)
            yield block

def learn(*args, **options):
    print("learning")
    return known(*args, **options)

known, resolve.learn = resolve.learn, learn

def step(path):
    if dies and len(path) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    if not dies and len(path) in (19, 20):
        print("step", len(path))

model = KernelPursuitRegressor(gamma=0.5, max_atoms=40, stop="max", random_state=0, checkpoint=file)
if kind == "loop":
    model.set_params(sample_rows=None).fit(X[:2000], y[:2000], callback=step)
elif kind == "learned":
    model.set_params(gamma="learn", kernel="rbf", refine=False, stop="auto").fit(Dying(X, y))
else:
    model.fit(Dying(X, y))
assert not os.path.exists(file)
np.save(sys.argv[4], model.predict(X))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
@pytest.mark.parametrize("kind", ["loop", "source", "learned"])
def test_a_fit_that_was_killed_goes_on_with_the_same_bits(tmp_path, kind):
    def run(file, dies):
        out = str(tmp_path / "out.npy")
        command = [sys.executable, "-c", KILLED, str(tmp_path / file), kind, dies, out]
        return subprocess.run(command, capture_output=True, text=True), out

    killed, _ = run("checkpoint", "dies")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "checkpoint").read_bytes().startswith(MAGIC)
    done, out = run("checkpoint", "lives")
    assert done.returncode == 0, done.stderr
    found = np.load(out)
    if kind != "loop":
        lines = [line.split() for line in done.stdout.splitlines()]
        assert any(int(words[1]) for words in lines if words[0] == "from"), "some pass began where the killed one was"
        assert ["learning"] not in lines
    whole, out = run("another", "lives")
    assert whole.returncode == 0, whole.stderr
    assert ("learning" in whole.stdout) == (kind == "learned")
    np.testing.assert_array_equal(found, np.load(out))
    assert os.listdir(tmp_path) == ["out.npy"]


def run_away(X, C):
    raise AssertionError("a checkpoint has run code of the caller's")


class TestCheckpoint:
    def test_of_other_rows_is_not_taken_up(self, rng, tmp_path, monkeypatch):
        monkeypatch.setattr(Checkpoint, "remove", Checkpoint.write)
        X = rng.normal(size=(4000, 2))
        y = X[:, 0] + 0.1 * rng.normal(size=4000)
        model = KernelPursuitRegressor(gamma=0.3, max_atoms=10, sample_rows=200, random_state=0)
        kept = clone(model).set_params(checkpoint=tmp_path / "checkpoint")
        monkeypatch.setattr(sampled, "ROWS_LEARNED_FROM", 300)
        monkeypatch.setattr(sampled, "LEAST_SAMPLE", 300)
        kept.fit(ArraySource(X, y))
        # Rows of the sample are the same, and the others have changed.
        is_sampled = np.isin(np.arange(4000), sample_numbers(np.arange(4000), 300, kept._state.seed))
        other = np.where(is_sampled, y, y + 1.0)
        expected = model.fit(ArraySource(X, other))
        np.testing.assert_array_equal(kept.fit(ArraySource(X, other)).predict(X), expected.predict(X))

    def test_in_a_folder_that_cannot_be_written_is_refused_first(self, rng, tmp_path, monkeypatch):
        # A test run by root can write everywhere but on a read-only disk, which this stands for.
        monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
        model = KernelPursuitRegressor(checkpoint=tmp_path / "checkpoint")
        with pytest.raises(ValueError, match="is in a folder that cannot be written; name another one"):
            model.fit(rng.normal(size=(30, 2)), rng.normal(size=30))

    def test_what_holds_code_of_the_callers_is_not_kept(self, tmp_path):
        checkpoint = Checkpoint(tmp_path / "checkpoint", every=0.0)
        for number, value in enumerate([CallableKernel(lambda X, C: X @ C.T), CallableKernel(run_away), open]):
            checkpoint.put_where_plain(str(number), value)
        checkpoint.put_where_plain("plain", RBF(gamma=0.5))
        assert Checkpoint(tmp_path / "checkpoint")._found == {"plain": RBF(gamma=0.5)}

    def test_sums_that_depend_on_a_lambda_are_not_kept(self, rng, tmp_path, monkeypatch):
        monkeypatch.setattr(sampled, "SAMPLED_ABOVE", 500)
        X = rng.normal(size=(1000, 2))
        source = ArraySource(X, np.sin(X[:, 0]))
        model = KernelPursuitRegressor(kernel=lambda X, C: np.exp(-np.square(X[:, None] - C).sum(axis=-1)), max_atoms=5)
        expected = model.set_params(sample_rows=200, random_state=0).fit(source).predict(X)
        with pytest.warns(UserWarning, match=r"keeps no sums of this fit, which depend on a function without a name"):
            model.set_params(checkpoint=tmp_path / "checkpoint").fit(source)
        np.testing.assert_array_equal(model.predict(X), expected)

    def test_what_was_learned_is_the_same_again(self, rng, tmp_path):
        atoms = KernelAtoms(RBF(gamma=[0.5, 2.0]), rng.normal(size=(4, 2)), factors=np.array([1.0, 1.0, 2.0, 0.5]))
        nothing = np.zeros(0, dtype=np.intp)
        for learned in (
            Learned(atoms.kernel, 0.1, np.ones(2), atoms=atoms, rows=np.arange(4), is_validation=None, refined=True),
            Learned(atoms.kernel, 0.1, np.ones(2), atoms=None, rows=nothing, is_validation=None, refined=False),
        ):
            checkpoint = Checkpoint(tmp_path / "checkpoint", every=0.0)
            checkpoint.put_where_plain("learned", learned)
            again = Checkpoint(tmp_path / "checkpoint").get("learned")
            assert (again.kernel, again.alpha, again.penalty) == (learned.kernel, 0.1, "ridge")
            X = rng.normal(size=(10, 2))
            if learned.atoms is None:
                assert again.atoms is None
            else:
                values = [one.atoms.block(one.atoms.rows(X), np.arange(4), n_threads=1) for one in (learned, again)]
                np.testing.assert_array_equal(*values)

    def test_what_is_no_checkpoint_is_never_overwritten(self, tmp_path):
        X, y = np.arange(30.0)[:, None], np.sin(np.arange(30.0))
        file = tmp_path / "data.csv"
        file.write_text("a,b")
        for path, words in (
            (file, "is no checkpoint of a fit; name another file"),
            (tmp_path, "is a folder; name a file"),
            (tmp_path / "none" / "file", "is in a folder that does not exist"),
        ):
            with pytest.raises(ValueError, match=words):
                KernelPursuitRegressor(checkpoint=path).fit(X, y)
        assert file.read_text() == "a,b"
        with pytest.raises(ValueError, match="checkpoint=7 is not usable; give the name of a file"):
            KernelPursuitRegressor(checkpoint=7).fit(X, y)

    def test_a_damaged_one_is_named_and_foreign_code_is_not_run(self, tmp_path):
        file = tmp_path / "checkpoint"
        # Functions of NumPy, and those of modules that ours import, are as foreign as any.
        of_numpy = b"\x80\x04\x8c\x1cnumpy.testing._private.utils\x8c\x09runstring\x93."
        dotted = b"\x80\x04\x8c\x14kernelpursuit._files\x8c\x09os.system\x93\x8c\x0btouch pwned\x85R."
        function = b"\x80\x04\x8c\x14kernelpursuit._files\x8c\x0aread_whole\x93."
        damaged = (b"", b"cos\nsystem\n(S'touch pwned'\ntR.", b"\x80\x05garbage")
        for content in (*damaged, of_numpy, dotted, function):
            file.write_bytes(MAGIC + content)
            with pytest.raises(ValueError, match="is damaged, or of another version; remove it to start anew"):
                Checkpoint(file)
        assert not os.path.exists("pwned")

    def test_a_write_that_fails_keeps_the_last_and_the_fit(self, tmp_path, monkeypatch):
        file = tmp_path / "checkpoint"
        kept = Checkpoint(file, every=0.0)
        kept.put("a", np.arange(3))
        before = file.read_bytes()

        def full(*args):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.warns(
            UserWarning,
            match="could not be written, and the fit goes on with what was saved before: .*does not fit on the disk",
        ):
            kept.put("a", np.arange(4))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kept.put("a", np.arange(5))  # said once
        assert file.read_bytes() == before
        assert os.listdir(tmp_path) == ["checkpoint"]
        np.testing.assert_array_equal(Checkpoint(file).get("a"), np.arange(3))


class Interrupting(Callback):
    """Ctrl-C in a stage."""

    def __init__(self, name, times=1):
        self.name, self.times = name, times

    def on_stage(self, stage):
        if stage.name.startswith(self.name) and self.times:
            self.times -= 1
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
class TestCtrlC:
    @pytest.fixture(autouse=True)
    def _interrupts_arrive(self):
        """A test run in the background of a shell ignores interrupts, as its children do."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    @pytest.mark.parametrize("stage", ["scales", "fitting"])
    def test_leaves_a_model_and_says_so(self, rng, stage):
        X = rng.normal(size=(1200, 3))
        y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=1200)
        words = "the fit was interrupted, and the model is the best found so far"
        with pytest.warns(InterruptedFitWarning, match=words):
            model = KernelPursuitRegressor(random_state=0).fit(X, y, callback=Interrupting(stage))
        assert "Ctrl-C cut short" in model.stop_reason_
        assert np.isfinite(model.predict(X)).all()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    @pytest.mark.parametrize("n_blocks", [12, 25])
    def test_in_a_pass_leaves_sums_that_go_together(self, rng, n_blocks):
        X = rng.normal(size=(20_000, 2))
        y = X[:, 0] + 0.5 * rng.normal(size=len(X))
        begun = []

        class Interrupted(ArraySource):
            """Ctrl-C in a block after the first pass, in small blocks."""

            def blocks(self, size, start=0):
                for block in super().blocks(min(size, 1000), start):
                    begun.append(block.start)
                    if len(begun) == 20 + n_blocks:
                        os.kill(os.getpid(), signal.SIGINT)
                    yield block

        model = KernelPursuitRegressor(gamma=0.3, max_atoms=10, sample_rows=1000, random_state=0, n_jobs=1)
        with pytest.warns(InterruptedFitWarning):
            model.fit(Interrupted(X, y))
        assert 20 + n_blocks <= len(begun) < 60, "a pass was cut short"
        assert model.path_.n_units == pytest.approx(model.path_.total_weight)
        _, std = model.predict(X[:100], return_std=True)
        np.testing.assert_allclose(std, 0.5, rtol=0.03)

    def test_twice_leaves_the_estimator_as_it_was(self, rng):
        X = rng.normal(size=(300, 2))
        model = KernelPursuitClassifier(random_state=0).fit(X, X[:, 0] > 0)
        before = model.predict_proba(X)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, X[:, 1] > 0, callback=Interrupting("", times=2))
        np.testing.assert_array_equal(model.predict_proba(X), before)

    def test_a_handler_of_the_callers_own_is_left_alone(self, rng):
        seen = []
        before = signal.signal(signal.SIGINT, lambda *given: seen.append(given))
        try:
            X = rng.normal(size=(60, 2))
            model = KernelPursuitRegressor(random_state=0).fit(X, X[:, 0], callback=Interrupting("", times=1))
        finally:
            signal.signal(signal.SIGINT, before)
        assert len(seen) == 1
        assert "Ctrl-C" not in model.stop_reason_
