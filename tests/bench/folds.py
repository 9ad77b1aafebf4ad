"""The fold cases: floor and host on the same bytes, in interleaved pairs."""
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import measure

GENERATOR = pathlib.Path(__file__).resolve().parent.parent / "tools" / "gen_export.py"
# Later than every generated message, so that none is in the future (L, D4).
NOW = "2026-10-01T00:00:00Z"
LEDGER = "issue-debt"
# What the reference needs for the full case, in seconds on two cores (the figure).
REFERENCE_S = 8.4

MAX_RATIO = 2.5
MAX_WALL_S = 0.25
MIN_FACTOR = 33
MAX_RSS_FULL = 200
MAX_RSS_DAILY = 400
MAX_GROWTH = 11


@dataclasses.dataclass
class Bench:
    host: pathlib.Path
    floor: pathlib.Path
    # Generated exports, kept between runs.
    cache: pathlib.Path
    # State folders of this run. The floor writes below it too, so both meet the same file system.
    work: pathlib.Path
    sizes: dict
    # Whether bounds that hold for the full sizes are judged.
    judged: bool

    def bound(self, value):
        return value if self.judged else None

    def export(self, messages, seed=1, window="full"):
        """A generated export. The name holds all that decides its bytes, so a cached one is never stale."""
        script = hashlib.sha256(GENERATOR.read_bytes()).hexdigest()[:8]
        entities = self.sizes["entities"]
        path = self.cache / f"{LEDGER}-{messages}-{entities}-{seed}-{window}-{script}.json"
        if not path.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            with unfinished.open("wb") as out:
                subprocess.run(
                    [sys.executable, GENERATOR, "--ledger", LEDGER, "--messages", str(messages), "--entities", str(entities),
                     "--seed", str(seed), "--window", window],
                    stdout=out, check=True)
            unfinished.replace(path)
        return path


@dataclasses.dataclass
class Pairs:
    """Medians of the pairs of one case. `ratio` is the median of the pairs' ratios, which cancels a slow minute."""
    host_s: float
    floor_s: float
    ratio: float
    rss_mb: float
    # Median seconds of the floor's parts.
    parts: dict


def host_fold(bench, export, state):
    return measure.run([bench.host, "run", LEDGER, "reduce", "--events", export, "--state-dir", state, "--now", NOW])


def new_state(bench, prior):
    """A state folder, with the artifacts of `prior` in it when there is one, and these on the disk."""
    state = bench.work / "state"
    shutil.rmtree(state, ignore_errors=True)
    if prior is None:
        (state / LEDGER).mkdir(parents=True)
        return state
    shutil.copytree(prior, state)
    for path in state.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    return state


def floor_fold(bench, export, prior, artifacts):
    out = bench.work / "floor"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    command = [bench.floor, "--events", export, "--artifacts", artifacts, "--out", out]
    if prior is not None:
        command += ["--prior", snapshots(prior) / "snapshot.json"]
    return json.loads(measure.run(command).stdout)


def snapshots(state):
    return state / LEDGER / "snapshots"


def measure_pairs(bench, export, prior=None):
    """One fold to have the artifacts, then the pairs."""
    first = new_state(bench, prior)
    host_fold(bench, export, first)
    artifacts = bench.work / "artifacts"
    shutil.rmtree(artifacts, ignore_errors=True)
    shutil.copytree(snapshots(first), artifacts)
    floors, hosts = [], []
    for _ in range(bench.sizes["pairs"]):
        floors.append(floor_fold(bench, export, prior, artifacts))
        hosts.append(host_fold(bench, export, new_state(bench, prior)))
    return Pairs(
        host_s=statistics.median(run.wall_s for run in hosts),
        floor_s=statistics.median(floor["total_s"] for floor in floors),
        ratio=statistics.median(run.wall_s / floor["total_s"] for run, floor in zip(hosts, floors)),
        rss_mb=max(run.max_rss for run in hosts) / 1e6,
        parts={part: statistics.median(floor[f"{part}_s"] for floor in floors) for part in ("parse", "hash", "write")},
    )


def report_floor(lines, case, pairs):
    lines.add(case, "floor", pairs.floor_s, "s")
    for part, seconds in pairs.parts.items():
        lines.add(case, f"floor, {part}", seconds, "s")


def full(bench, lines):
    """Everything, without a prior."""
    messages, entities = bench.sizes["messages"], bench.sizes["entities"]
    case = f"full: {messages:,} messages / {entities:,} entities"
    pairs = measure_pairs(bench, bench.export(messages))
    report_floor(lines, case, pairs)
    lines.add(case, "host / floor", pairs.ratio, "x", at_most=bench.bound(MAX_RATIO))
    lines.add(case, "host (goal 0.2)", pairs.host_s, "s", at_most=bench.bound(MAX_WALL_S))
    # The reference's time belongs to the full size only.
    if bench.judged:
        lines.add(case, f"reference's {REFERENCE_S} s / host (goal 40)", REFERENCE_S / pairs.host_s, "x", at_least=MIN_FACTOR)
    lines.add(case, "host, resident", pairs.rss_mb, "MB", at_most=bench.bound(MAX_RSS_FULL))
    return pairs


def daily(bench, lines):
    """What a lane runs every day: the folded state, and the tail of the journal since."""
    prior = bench.work / "prior"
    host_fold(bench, bench.export(bench.sizes["messages"]), new_state(bench, None))
    (bench.work / "state").replace(prior)
    case = f"daily: that state + {bench.sizes['tail']:,} messages"
    pairs = measure_pairs(bench, bench.export(bench.sizes["tail"], seed=2, window="incremental"), prior)
    report_floor(lines, case, pairs)
    lines.add(case, "host / floor", pairs.ratio, "x", at_most=bench.bound(MAX_RATIO))
    lines.add(case, "host", pairs.host_s, "s")
    lines.add(case, "host, resident", pairs.rss_mb, "MB", at_most=bench.bound(MAX_RSS_DAILY))


def growth(bench, lines, base):
    """Ten times the messages over the same entities: time may not grow much faster than the input."""
    messages = bench.sizes["messages"] * bench.sizes["growth"]
    case = f"growth: {messages:,} messages / {bench.sizes['entities']:,} entities"
    pairs = measure_pairs(bench, bench.export(messages))
    report_floor(lines, case, pairs)
    lines.add(case, "host / floor", pairs.ratio, "x")
    lines.add(case, "host", pairs.host_s, "s")
    lines.add(case, "host / host of the full case", pairs.host_s / base.host_s, "x", at_most=bench.bound(MAX_GROWTH))
    lines.add(case, "host, resident", pairs.rss_mb, "MB")
