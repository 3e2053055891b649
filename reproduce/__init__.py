"""Every table and figure of the five papers, reproduced and set beside what was published.

`python -m reproduce` runs all, `python -m reproduce nair-table-2` one; `--full` has the papers' own number of
repetitions. A table is a file of `configs/`: what is done is a function of `experiments/`, what was published is in
`published/`, and what comes of both is in `docs/reproduction/`.
"""
