#!/usr/bin/env python3
"""Measure the built host against the bounds of DECISIONS 6.11 and print a verdict for each.

Fold cases run in pairs, floor then host, where the floor is the least work that any fold of the same bytes has to do
(see README.md beside this file). The exit code is 1 when a bound is missed, 2 when something could not be measured.
"""
import argparse
import os
import pathlib
import platform
import sys
import tempfile

import folds
import measure
import programs
import report

# One place for the sizes. Quick sizes show that the bench works; bounds that hold for the full sizes are not judged then.
FULL = {"messages": 50_000, "entities": 5_000, "tail": 500, "growth": 10, "pairs": 9, "starts": 30, "processes": 8, "appends": 1_000}
QUICK = {"messages": 5_000, "entities": 500, "tail": 50, "growth": 10, "pairs": 3, "starts": 10, "processes": 8, "appends": 25}

CASES = ("full", "daily", "growth", "start", "spool")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; only bounds that do not depend on size are judged")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--only", choices=CASES, action="append", metavar="CASE", help=f"run only this case (repeatable): {', '.join(CASES)}")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), metavar="DIR",
                        help="where state folders are made; not in a git work tree, which the host refuses (default: %(default)s)")
    for name in ("--host", "--floor", "--cache"):
        parser.add_argument(name, type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def run_cases(args, sizes, lines, work):
    bench = folds.Bench(args.host.resolve(), args.floor.resolve(), args.cache, work, sizes, judged=not args.quick)
    wanted = args.only or CASES
    full = None
    if {"full", "growth"} & set(wanted):
        full = folds.full(bench, lines)
    if "daily" in wanted:
        folds.daily(bench, lines)
    if "growth" in wanted:
        folds.growth(bench, lines, full)
    if "start" in wanted:
        programs.start(bench.host, work, sizes["starts"], lines)
    if "spool" in wanted:
        programs.spool(bench.host, work, (sizes["processes"], sizes["appends"]), lines)


def main():
    args = arguments()
    sizes = QUICK if args.quick else FULL
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, state below {args.scratch}"
    lines = report.Lines(live=not args.json)
    if not args.json:
        print(f"{'quick run, ' if args.quick else ''}{machine}\n", flush=True)
    try:
        with tempfile.TemporaryDirectory(prefix="host-bench-", dir=args.scratch) as work:
            run_cases(args, sizes, lines, pathlib.Path(work))
    except (measure.BenchError, OSError) as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 2
    if args.json:
        print(lines.json(quick=args.quick, machine=machine))
    else:
        print(f"\n{lines.missed()} of {lines.judged()} bounds missed")
    return 1 if lines.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
