"""Graphs as rows: columns of a graph kernel, precomputed; predicting needs just the columns that were picked.

A graph is described by how many of its pairs of nodes are 1, 2, 3, ... steps apart, and two graphs are alike if these
histograms are (a shortest-path kernel, Borgwardt and Kriegel 2005). Three kinds of graphs are to be told apart.

    python examples/graphs.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from picture import panels, save
from scipy.sparse.csgraph import shortest_path
from sklearn.model_selection import train_test_split

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.dictionary import Precomputed
from kernelpursuit.kernels import RBF
from kernelpursuit.plotting.parts import CLASS_COLOURS

KINDS = ("ring with tails", "tree", "two clusters")
LONGEST = 12


def main(folder: str | Path = "out") -> dict[str, float]:
    graphs, y = make_graphs()
    train, test = train_test_split(np.arange(len(graphs)), test_size=0.5, stratify=y, random_state=0)
    histograms = np.array([path_histogram(graph) for graph in graphs])
    # The width is chosen by the leave-one-out loss of the training graphs; the test graphs have no say.
    fits = [(kernel, fit(kernel, histograms[train], y[train])) for kernel in map(RBF, (5.0, 20.0, 50.0, 100.0))]
    kernel, model = min(fits, key=lambda pair: pair[1].path_.loo.min())

    # New graphs are compared with the picked ones alone.
    picked = train[model.center_indices_]
    predicted = model.predict(kernel(histograms[test], histograms[picked]))
    found = {"accuracy": float(np.mean(predicted == y[test])), "atoms": model.n_atoms_, "columns": len(train)}
    draw_picked(graphs, y, picked, model.coef_, found, folder)

    print("{atoms} of {columns} columns needed to predict, accuracy on new graphs {accuracy:.3f}".format(**found))
    return found


def fit(kernel: RBF, histograms: np.ndarray, y: np.ndarray) -> KernelPursuitClassifier:
    return KernelPursuitClassifier(kernel=Precomputed(), max_atoms=30).fit(kernel(histograms, histograms), y)


def path_histogram(graph: np.ndarray) -> np.ndarray:
    """Share of the pairs of nodes that are 1, 2, ... steps apart."""
    steps = shortest_path(graph, unweighted=True)[np.triu_indices(len(graph), 1)].astype(int)
    return np.bincount(np.minimum(steps, LONGEST), minlength=LONGEST + 1)[1:] / len(steps)


def make_graphs(n_graphs: int = 300, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Adjacency matrices of 12 to 20 nodes, and their kinds."""
    generator = np.random.default_rng(seed)
    kinds = np.arange(n_graphs) % len(KINDS)
    return [make_graph(KINDS[kind], generator) for kind in kinds], kinds


def make_graph(kind: str, generator: np.random.Generator) -> np.ndarray:
    n = int(generator.integers(12, 21))
    if kind == "two clusters":
        half = np.arange(n) < n // 2
        graph = ((half[:, None] == half) & (generator.random((n, n)) < 0.3)).astype(float)
        # Every node is joined to the first of its cluster, and that of the second to that of the first.
        graph[np.arange(1, n), np.where(np.arange(1, n) > n // 2, n // 2, 0)] = 1
    else:
        graph = np.zeros((n, n))
        n_ring = n * 3 // 4 if kind == "ring with tails" else 1
        graph[np.arange(n_ring), (np.arange(n_ring) + 1) % n_ring] = 1
        for i in range(n_ring, n):
            graph[i, generator.integers(max(0, i - 5), i)] = 1
    np.fill_diagonal(graph, 0)
    return np.maximum(graph, graph.T)


def draw_picked(graphs: list, y: np.ndarray, picked: np.ndarray, weights: np.ndarray, found: dict, folder) -> None:
    """The first ten picked graphs, each laid out by its shortest paths."""
    figure, axes = panels(2, 5, (11.5, 4.9))
    for ax, i, w in zip(axes.flat, picked, weights.T):
        graph, colour = graphs[i], CLASS_COLOURS[y[i]]
        place = layout(graph)
        for a, b in zip(*np.nonzero(np.triu(graph))):
            ax.plot(*place[[a, b]].T, color="#888888", lw=1.0, zorder=1)
        ax.plot(*place.T, "o", color=colour, ms=5.5, mec="white", mew=0.6)
        ax.set_title(KINDS[y[i]], fontsize="medium", color=colour)
        ax.set_xlabel("speaks for: " + KINDS[int(w.argmax())], fontsize="small")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xticks=[], yticks=[])
        ax.margins(0.12)
        ax.spines[:].set_color("#CCCCCC")
    for ax in axes.flat[len(picked) :]:
        ax.set_visible(False)
    title = "first {shown} of {atoms} graphs picked out of {columns}; accuracy on new graphs {accuracy:.3f}"
    figure.suptitle(title.format(shown=min(10, len(picked)), **found), fontsize="medium")
    save(figure, folder, "graphs.png")


def layout(graph: np.ndarray, n_rounds: int = 60) -> np.ndarray:
    """Places in the plane whose distances are like the shortest paths (stress majorisation)."""
    wanted = shortest_path(graph, unweighted=True)
    weights = 1 / np.square(np.where(wanted > 0, wanted, np.inf))
    pull = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = np.random.default_rng(0).standard_normal((len(graph), 2))
    for _ in range(n_rounds):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        ratio = weights * wanted / np.where(apart > 0, apart, np.inf)
        places = pull @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return places


if __name__ == "__main__":
    main(*sys.argv[1:])
