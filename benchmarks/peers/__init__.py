"""Ours beside its peers on thirty sets of numbers and classes, each peer at its default and tuned: `make bench-peers`.

methods.py      what is compared, and which sets each is for
ours.py, kernel_machines.py, columns.py, trees.py, light.py, gaussian.py, relevance.py    how each is fitted
one_fit.py      one fit in a process of its own, under limits of time and memory
stored.py       what is known: the stored results `docs/peers.csv`, and the journal of a run
run.py          all of them in turn: breadth first, and on from where a run was stopped
results.py      ours beside a peer on a set
losses.py, ranks.py, plots.py, page.py    the page `docs/peers.md` and its pictures
"""
