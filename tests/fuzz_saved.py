"""Damage saved models in many ways, and see that `load` refuses each in a sentence or gives a model that predicts.

    python tests/fuzz_saved.py [100000] [seed]

Half of the mutations change bytes of the file. The other half, as a stranger might, change the text or the arrays and
write a file with the right digest. No exception but ValueError may come of it, at no time may more memory be taken than
the file justifies, and whatever is loaded must predict, cut its path and give intervals without any other exception.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_friedman1

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, presets
from kernelpursuit.dictionary import Always, Constant, KernelAtoms, LinearTrend
from kernelpursuit.kernels import RBF, Linear, Periodic
from kernelpursuit.saved import container

# Beside what the file holds: what Python and the checks of an empty model take, and a few copies of the arrays.
BYTES_AT_LEAST, COPIES = 2**21, 40
# What a JSON value may become.
PALETTE = [
    *(None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63, 10**18, -(10**18), 10**30, 0.5, -1.5, 1e308, 1e-308),
    *("", "rbf", "x" * 100, "path.cost", "FittedModel", "KernelAtoms", "RBF", "Loss", "os.system", "<lambda>"),
    *({}, [], {"array": "path.cost"}, {"array": "nothing"}, {"number": "nan"}, {"number": "1e999"}, {"list": []}),
    *({"tuple": []}, {"dict": []}, {"type": "RBF", "fields": {}}, {"object": "kernel"}, {"own": "A", "fields": {}}),
    *({"type": "Functions", "fields": {"functions": {"tuple": ["a"]}, "training_rows": None}},),
    *({"type": "Constant", "fields": {"n_atoms": 10**12, "training_rows": None}}, {"strings": ["a"], "width": 10**9}),
    *({"type": "Scaled", "fields": {"kernel": {"type": "Linear", "fields": {}}, "factor": 2.0}},),
]


def bases() -> dict[str, tuple[bytes, np.ndarray]]:
    """Files of models of many kinds, and rows for each."""
    X, y = make_friedman1(80, 5, noise=0.5, random_state=0)
    rows, labels = load_iris(return_X_y=True)
    wide = sp.random_array((60, 40), density=0.2, format="csr", random_state=0)
    words = np.array(["one", "two", "three"])[labels]
    line = Always(LinearTrend()) + KernelAtoms(RBF() * Periodic(period=2.0) + 0.5 * Linear()) + Constant()
    models = {
        "default": (KernelPursuitRegressor(random_state=0).fit(X, y), X),
        "composed": (KernelPursuitRegressor(kernel=line, gamma=0.5, max_atoms=8).fit(X, y), X),
        "exchange": (presets.greedy_qr_exchange(gamma=0.5, max_atoms=8, stop="mdl | tol").fit(X, y), X),
        "stagewise": (presets.kmp_basic(gamma=0.5, max_atoms=6).fit(X, y), X),
        "minres": (presets.mrx(gamma=0.5, max_atoms=6).fit(X, y), X),
        "poisson": (KernelPursuitRegressor(loss="poisson", gamma=0.5, max_atoms=6).fit(X, np.abs(np.round(y))), X),
        "sparse": (KernelPursuitRegressor(gamma=0.1, max_atoms=5).fit(wide, wide.sum(axis=1)), wide.toarray()),
        "classes": (KernelPursuitClassifier(gamma=0.5, max_atoms=6).fit(rows, words), rows),
        "ovr": (KernelPursuitClassifier(gamma=0.5, max_atoms=4, multi_class="ovr").fit(rows, words), rows),
    }
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, X) in models.items():
            path = Path(folder) / "m.kp"
            model.save(path)
            out[name] = path.read_bytes(), X[:3]
    return out


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """The file with bytes changed, lost, added or moved."""
    data = bytearray(content)
    header = 8 + int.from_bytes(data[:8], "little")
    kind = rng.randrange(8)
    place = rng.randrange(header) if rng.random() < 0.5 else rng.randrange(len(data))
    if kind == 0:
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(header) if rng.random() < 0.5 else rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[place:]
    elif kind == 2:
        del data[place : place + rng.choice((1, 2, 8, 100))]
    elif kind == 3:
        data[place:place] = rng.randbytes(rng.choice((1, 2, 8, 100)))
    elif kind == 4:
        data[:8] = rng.choice((0, 1, 2, header, len(data), 2**31, 2**63, 2**64 - 1)).to_bytes(8, "little")
    elif kind == 5:
        end = place + rng.choice((1, 4, 64))
        data[place:end] = bytes(len(data[place:end]))
    elif kind == 6:
        text = bytes(data[8:header])
        digits = [i for i, byte in enumerate(text) if chr(byte).isdigit()]
        data[8 + rng.choice(digits)] = ord(str(rng.randrange(10)))
    else:
        data = bytearray(rng.randbytes(rng.randrange(200)))
    return bytes(data)


def nodes(tree: object, path: tuple = ()) -> list[tuple]:
    """Paths of all values inside a tree."""
    found = [path] if path else []
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, one in pairs:
        found += nodes(one, (*path, key))
    return found


def changed_text(tree: dict, rng: random.Random) -> dict:
    """The text with some values replaced, removed, repeated or exchanged."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        paths = nodes(tree)
        *above, key = rng.choice(paths)
        place = tree
        for step in above:
            place = place[step]
        kind = rng.randrange(6)
        if kind == 0:
            del place[key]
        elif kind == 1:
            *other, last = rng.choice(paths)
            source = tree
            for step in other:
                source = source[step] if isinstance(source, (dict, list)) else {}
            place[key] = copy.deepcopy(source[last])
        elif kind == 2 and isinstance(place[key], (int, float)) and not isinstance(place[key], bool):
            place[key] = place[key] * rng.choice((-1, 2, 1000)) + rng.choice((0, 1, -1))
        elif kind == 3 and isinstance(place, list):
            place.append(copy.deepcopy(place[key]))
        else:
            place[key] = copy.deepcopy(rng.choice(PALETTE))
    return tree


def changed_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    """The arrays with another shape, type, order, size or wild values."""
    arrays = dict(arrays)
    name = rng.choice(sorted(arrays))
    array, kind = arrays[name], rng.randrange(8)
    if kind == 0:
        array = array.reshape(rng.choice(((-1,), (1, *array.shape), (*array.shape, 1), array.shape[::-1])))
    elif kind == 1:
        array = array.astype(rng.choice(("f4", "f8", "i8", "i4", "u8", "u1", "f2", "?")))
    elif kind == 2:
        array = array[: rng.randrange(len(array) + 1)] if array.ndim else array
    elif kind == 3:
        array = np.concatenate([array, array[:1]]) if array.ndim else array[None]
    elif kind == 4:
        array = np.zeros((0, *array.shape[1:]), array.dtype)
    elif kind == 5:
        array = np.ascontiguousarray(array.T)
    elif array.size:
        array = array.copy()
        wild = (np.nan, np.inf, -np.inf, 1e308, -1, 0) if array.dtype.kind == "f" else (2**62, -1, 100, 0, 1)
        with np.errstate(all="ignore"):
            np.ravel(array)[rng.randrange(array.size)] = np.array(rng.choice(wild)).astype(array.dtype)
    if rng.random() < 0.1:
        arrays.pop(name)
    else:
        arrays[name] = np.ascontiguousarray(array)
    return arrays


def as_a_stranger(content: bytes, rng: random.Random) -> bytes:
    """A file with other text or arrays and the right digest."""
    text, _, arrays = container.unpack(content)
    if rng.random() < 0.6:
        text = json.dumps(changed_text(json.loads(text), rng))
    if rng.random() < 0.5:
        arrays = changed_arrays(arrays, rng)
    return container.pack(text, arrays)


def use(model: object, rows: np.ndarray) -> list[str]:
    """Ask a loaded model for all that it offers; return the sentences of what it refuses."""
    calls = [lambda: model.predict(rows), lambda: model.select("mdl"), lambda: model.select("auto")]
    for k in (0, 1, len(model.path_)):
        calls += [lambda k=k: model.at(k).predict(rows), lambda k=k: model.at(k, keep_path=False).predict(rows)]
    if isinstance(model, KernelPursuitClassifier):
        calls += [lambda: model.predict_proba(rows), lambda: model.predict_set(rows)]
    else:
        calls += [lambda: model.predict_interval(rows), lambda: model.predict(rows, return_std=True)]
        calls += [lambda: list(model.staged_predict(rows))]
    refused = []
    for call in calls:
        try:
            call()
        except ValueError as error:
            refused.append(str(error))
    return refused


def run(n: int, seed: int) -> Counter:
    """Try so many mutations; return how often what came of them."""
    rng, found, said, slowest = random.Random(seed), Counter(), Counter(), 0.0
    files = bases()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    tracemalloc.start()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "m.kp"
        wanted = {}
        for name, (content, rows) in files.items():
            path.write_bytes(content)
            wanted[name] = kernelpursuit.load(path).predict(rows)
        for number in range(n):
            name = rng.choice(sorted(files))
            content, rows = files[name]
            content = (damaged_bytes if number % 2 else as_a_stranger)(content, rng)
            path.write_bytes(content)
            tracemalloc.reset_peak()
            before, start = tracemalloc.get_traced_memory()[0], time.perf_counter()
            try:
                model = kernelpursuit.load(path)
            except ValueError as error:
                message = str(error)
                assert message.endswith("."), message
                assert "\n" not in message, message
                result = "refused"
            else:
                result = "loaded"
            slowest = max(slowest, time.perf_counter() - start)
            taken = tracemalloc.get_traced_memory()[1] - before
            assert taken < BYTES_AT_LEAST + COPIES * len(content), f"mutation {number}: {taken} bytes"
            found[f"{'bytes' if number % 2 else 'stranger'}, {result}"] += 1
            if result == "loaded":
                try:
                    if number % 2:
                        assert np.array_equal(model.predict(rows), wanted[name]), "changed bytes changed a prediction"
                    for sentence in use(model, rows):
                        said[sentence] += 1
                except Exception:
                    failed = Path(tempfile.gettempdir()) / "fuzz_saved_failed.kp"
                    failed.write_bytes(content)
                    print(f"mutation {number} of {name!r} with seed {seed}: {failed}")
                    raise
    tracemalloc.stop()
    print(f"slowest load: {1000 * slowest:.0f} ms; what loaded models said:")
    for sentence, count in said.most_common(40):
        print(f"{count:7d}  {sentence[:150]}")
    return found


if __name__ == "__main__":
    n, seed = (int(one) for one in (*sys.argv[1:], *("100000", "0")[len(sys.argv) - 1 :]))
    began = time.perf_counter()
    for what, count in sorted(run(n, seed).items()):
        print(f"{count:7d}  {what}")
    print(f"{n} mutations in {time.perf_counter() - began:.0f} s")
