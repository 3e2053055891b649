"""A rare class among many rows: errors with samples that have all of its rows, with even samples, and of boosted trees.

    python benchmarks/rare.py [--rows 500000] [--one-in 2000,10000]

The log loss and the average precision are of 1,000,000 other rows, beside those of the probabilities that labels were
drawn with.
"""

from __future__ import annotations

import argparse
import time
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, log_loss

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.estimators import sampled

N_TEST, N_FEATURES = 1_000_000, 8


def scores_of(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, the log-odds of the rare class but for a constant, and uniform numbers."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, N_FEATURES))
    scores = 2 * np.sin(2 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 1.5 * X[:, 3]
    return X, scores, generator.uniform(size=n_rows)


def say(name: str, y: np.ndarray, p: np.ndarray, seconds: float = 0.0) -> None:
    """Print errors of probabilities."""
    loss = log_loss(y, np.clip(p, 1e-12, 1 - 1e-12))
    print(f"{name:<28} log loss {loss:.6f}  average precision {average_precision_score(y, p):.3f}  {seconds:.1f} s")


def fitted(model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, float]:
    """Probabilities of the rare class, and the processor time of the fit."""
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    parts = np.array_split(X_test, 10)
    return np.concatenate([model.predict_proba(part)[:, 1] for part in parts]), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--one-in", default="2000,10000", help="rows among which one is rare, joined by commas")
    given = parser.parse_args()
    for one_in in map(float, given.one_in.split(",")):
        X, scores, uniform = scores_of(given.rows, 1)
        constant = brentq(lambda c, scores=scores, share=1 / one_in: expit(scores + c).mean() - share, -40, 0)
        y = (uniform < expit(scores + constant)).astype(int)
        X_test, scores, uniform = scores_of(N_TEST, 2)
        p = expit(scores + constant)
        y_test = (uniform < p).astype(int)
        print(f"one row in {one_in:,.0f}: {y.sum()} rare rows, and {y_test.sum()} for testing")
        say("the probabilities themselves", y_test, p)
        for name, share in (("even sample", 0.0), ("all rare rows", sampled.RARE_SHARE)):
            with patch.object(sampled, "RARE_SHARE", share):
                say(name, y_test, *fitted(KernelPursuitClassifier(random_state=0, n_jobs=1), X, y, X_test))
        say("boosted trees", y_test, *fitted(HistGradientBoostingClassifier(random_state=0), X, y, X_test))


if __name__ == "__main__":
    main()
