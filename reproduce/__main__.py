"""Run tables and figures: `python -m reproduce [names]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduce import pages, results, run
from reproduce.config import Config, ConfigError, function, named, names
from reproduce.draw import draw, draw_times


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, write the report, and return 0, 1 where a table had a problem, 2 for a wrong name."""
    options = _options(arguments)
    try:
        if options.list:
            print("\n".join(f"{name:<20} {named(name).title}" for name in names()))
            return 0
        return _reproduce([named(name) for name in options.names or names()], options)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. What was done is kept; run again to go on.", file=sys.stderr)
        return 130


def _reproduce(shown: Sequence[Config], options: argparse.Namespace) -> int:
    runs = dict.fromkeys(config.runs for config in shown)
    configs = [named(name) for name in runs if named(name).experiment]
    for config in configs:
        function(config.experiment, "experiments")  # a slip in a name is found before anything runs
    problems: dict[str, str] = {}
    if options.variants:
        problems |= _run_variants(configs, options)
    elif not options.report:
        wanted = [task for config in configs for task in run.tasks(config, options.full, options.at_most)]
        problems |= run.run(wanted, options.jobs)
    for config in configs:
        _record(config, options.out, problems)
    results.judge_again(options.out)
    # A run may be shown by several figures, named or not.
    for name in (name for name in names() if named(name).runs in runs):
        draw(named(name), options.out)
    draw_times(options.out)
    pages.write(options.out)
    return _summary(shown, problems, options.out)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m reproduce", description="Reproduce the papers' tables and figures.")
    parser.add_argument("names", nargs="*", help="tables and figures, such as nair-table-2; all by default")
    parser.add_argument("--full", action="store_true", help="the papers' own number of repetitions, or more")
    parser.add_argument("--at-most", type=_count, metavar="N", help="at most N repetitions of anything")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--variants", action="store_true", help="run the other readings of the papers instead")
    instead.add_argument("--report", action="store_true", help="run nothing; write the report from what is done")
    parser.add_argument("--jobs", type=_count, default=2, help="repetitions at a time (default: 2)")
    parser.add_argument(
        "--out", type=Path, default=results.FOLDER, help="folder of the report (default: docs/reproduction)"
    )
    parser.add_argument("--list", action="store_true", help="list the tables and figures")
    options = parser.parse_args(arguments)
    if options.full and (options.variants or options.report):
        parser.error(
            "--full is about a run of the tables; variants have the repetitions of a quick pass, a report has none"
        )
    if options.at_most and options.report:
        parser.error("--at-most is about a run, and --report runs nothing")
    return options


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of repetitions; give 1 or more")
    return int(text)


def _record(config: Config, folder: Path, problems: dict[str, str]) -> None:
    """Bring the result files up to date with a configuration, once all repetitions of a quick pass are done."""
    quick = run.tasks(config, full=False)
    left = len(quick) - len(run.done(quick))
    if left:
        left_out = f"{left} of {len(quick)} repetitions are not done; the report has what it had of it."
        problems[config.name] = " ".join(filter(None, [problems.get(config.name), left_out]))
        return
    measured = run.done(run.tasks(config, full=True))
    tables = results.tables_of(config)
    results.update(results.Cell, tables, results.cells_of(config, measured), folder)
    results.update(results.Blocks, tables, results.blocks_of(config, measured), folder)
    results.update(results.PValue, tables, results.p_values_of(config, measured), folder)
    results.update(results.Time, [config.name], results.times_of(config, measured), folder)


def _run_variants(configs: Sequence[Config], options: argparse.Namespace) -> dict[str, str]:
    pairs = {
        (config.name, variant): run.variant_tasks(config, variant, options.at_most)
        for config in configs
        for variant in config.variants
    }
    problems = run.run([task for pair in pairs.values() for tasks in pair for task in tasks], options.jobs)
    for config in configs:
        counted = []
        for variant in config.variants:
            cells, chosen = (results.cells_of(config, run.done(tasks)) for tasks in pairs[config.name, variant])
            if cells:
                counted.append(results.variant_count(config, variant, cells, chosen))
        results.update(results.VariantCount, [config.name], counted, options.out)
    return problems


def _summary(shown: Sequence[Config], problems: dict[str, str], folder: Path) -> int:
    """Say what came out, and what went wrong; 1 if anything did."""
    cells = results.read(results.Cell, folder)
    for config in shown:
        found = results.counts(cell for cell in cells if cell.table == config.name)
        if any(found.values()) and config.runs not in problems:
            print(f"{config.name:<20} " + ", ".join(f"{n} {verdict}" for verdict, n in found.items()))
    for name, problem in problems.items():
        print(f"{name}: {problem}", file=sys.stderr)
    print(f"The report is {folder / 'index.md'}.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
