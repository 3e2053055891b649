"""Run tables and figures: `python -m reproduce [names]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduce import pages, results, run
from reproduce.config import Config, ConfigError, named, names
from reproduce.draw import draw, draw_times


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, write the report, and return how many tables had a problem."""
    options = _options(arguments)
    if options.list:
        print("\n".join(f"{name:<20} {named(name).title}" for name in names()))
        return 0
    try:
        shown = [named(name) for name in options.names or names()]
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    configs = [named(name) for name in dict.fromkeys(config.runs for config in shown)]
    problems: dict[str, str] = {}
    if options.variants:
        problems |= _run_variants(configs, options.jobs, options.out)
    elif not options.report:
        problems |= run.run([task for config in configs for task in run.tasks(config, options.full)], options.jobs)
    for config in configs:
        _record(config, options.full, options.out)
    for config in shown:
        draw(config, options.out)
    draw_times(options.out)
    pages.write(options.out)
    return _summary(shown, problems, options.out)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m reproduce", description="Make the papers' tables and figures again.")
    parser.add_argument("names", nargs="*", help="tables and figures, such as nair-table-2; all by default")
    parser.add_argument("--full", action="store_true", help="with the papers' own number of repetitions")
    parser.add_argument("--variants", action="store_true", help="run the other readings of the papers instead")
    parser.add_argument("--report", action="store_true", help="run nothing; write the report from what is done")
    parser.add_argument("--jobs", type=int, default=2, help="repetitions at a time (default: 2)")
    parser.add_argument(
        "--out", type=Path, default=results.FOLDER, help="folder of the report (default: docs/reproduction)"
    )
    parser.add_argument("--list", action="store_true", help="list the tables and figures")
    return parser.parse_args(arguments)


def _record(config: Config, full: bool, folder: Path) -> None:
    """Bring the result files up to date with what is measured of a configuration."""
    measured = run.outcome(config, full).measured
    if not measured:
        return
    tables = results.tables_of(config)
    results.update(results.Cell, tables, results.cells_of(config, measured), folder)
    results.update(results.PValue, tables, results.p_values_of(config, measured), folder)
    results.update(results.Time, [config.name], results.times_of(config, measured), folder)


def _run_variants(configs: Sequence[Config], jobs: int, folder: Path) -> dict[str, str]:
    wanted = [(config, variant) for config in configs for variant in config.variants]
    problems = run.run([task for config, variant in wanted for task in run.tasks(config, False, variant)], jobs)
    chosen = results.read(results.Cell, folder)
    for config in configs:
        counted = []
        for variant in config.variants:
            cells = results.cells_of(config, run.outcome(config, False, variant).measured)
            if cells:
                counted.append(results.variant_count(config, variant, cells, chosen))
        results.update(results.VariantCount, [config.name], counted, folder)
    return problems


def _summary(shown: Sequence[Config], problems: dict[str, str], folder: Path) -> int:
    """Say what came out, and what went wrong; the number of problems is the exit code."""
    cells = results.read(results.Cell, folder)
    for config in shown:
        found = results.counts(cell for cell in cells if cell.table == config.name)
        if any(found.values()):
            print(f"{config.name:<20} " + ", ".join(f"{n} {verdict}" for verdict, n in found.items()))
    for name, problem in problems.items():
        print(f"{name}: {problem}", file=sys.stderr)
    print(f"The report is {folder / 'index.md'}.")
    return min(len(problems), 100)


if __name__ == "__main__":
    sys.exit(main())
