"""
Graphs
======

The dictionary consists of precomputed columns of a graph kernel. To predict, a new graph is compared only with the
graphs that were picked, not with all 150.

The histogram of a graph says how many of its pairs of nodes are 1, 2, 3, ... steps apart. Two graphs are similar if
their histograms are (a shortest-path kernel, Borgwardt and Kriegel 2005). The classes are three kinds of graphs.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.model_selection import train_test_split

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.dictionary import Precomputed
from kernelpursuit.kernels import RBF

KINDS = ("ring with tails", "tree", "two clusters")
LONGEST = 12


def make_graph(kind, generator):
    """Adjacency matrix of 12 to 20 nodes."""
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


def path_histogram(graph):
    """Fractions of the pairs of nodes that are 1, 2, ... steps apart."""
    steps = shortest_path(graph, unweighted=True)[np.triu_indices(len(graph), 1)].astype(int)
    return np.bincount(np.minimum(steps, LONGEST), minlength=LONGEST + 1)[1:] / len(steps)


generator = np.random.default_rng(0)
y = np.arange(300) % len(KINDS)
graphs = [make_graph(KINDS[kind], generator) for kind in y]
train, test = train_test_split(np.arange(300), test_size=0.5, stratify=y, random_state=0)
histograms = np.array([path_histogram(graph) for graph in graphs])

# %%
# The script takes the width with the least leave-one-out loss. New graphs are compared only with the picked ones.


def fit(kernel):
    K = kernel(histograms[train], histograms[train])
    return KernelPursuitClassifier(kernel=Precomputed(), max_atoms=30).fit(K, y[train])


kernel, model = min(((k, fit(k)) for k in map(RBF, (5.0, 20.0, 50.0, 100.0))), key=lambda pair: pair[1].path_.loo.min())
picked = train[model.center_indices_]
accuracy = np.mean(model.predict(kernel(histograms[test], histograms[picked])) == y[test])
print(f"{model.n_atoms_} of {len(train)} columns needed to predict, accuracy on new graphs {accuracy:.3f}")

# %%
# These are the first ten picked graphs. The layout of the nodes makes distances similar to shortest paths:


def layout(graph):
    """Places in the plane, by stress majorisation."""
    wanted = shortest_path(graph, unweighted=True)
    weights = 1 / np.square(np.where(wanted > 0, wanted, np.inf))
    pull = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = np.random.default_rng(0).standard_normal((len(graph), 2))
    for _ in range(60):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        ratio = weights * wanted / np.where(apart > 0, apart, np.inf)
        places = pull @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return places


figure, axes = plt.subplots(2, 5, figsize=(11.5, 4.9), layout="constrained")
for ax, i, w in zip(axes.flat, picked, model.coef_.T):
    place, colour = layout(graphs[i]), ("#0072B2", "#D55E00", "#009E73")[y[i]]
    for a, b in zip(*np.nonzero(np.triu(graphs[i]))):
        ax.plot(*place[[a, b]].T, color="#888888", lw=1.0, zorder=1)
    ax.plot(*place.T, "o", color=colour, ms=5.5, mec="white", mew=0.6)
    ax.set_title(KINDS[y[i]], fontsize="medium", color=colour)
    ax.set_xlabel("speaks for: " + KINDS[int(w.argmax())], fontsize="small")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.margins(0.12)
    ax.spines[:].set_color("#CCCCCC")
