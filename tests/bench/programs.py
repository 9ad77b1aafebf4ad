"""The cases that start many processes: how fast one starts, and many at once on one spool."""
import collections
import concurrent.futures
import json
import re
import statistics
import time

import measure

LEDGER = "issue-debt"
PREFIX = "[OBS]"
REPO = "o/r"
# A fixed clock: the observations are never in the future and have the same ids in each run.
NOW = "2026-10-01T00:00:00Z"
OBSERVED_AT = "2026-09-17T19:00:00Z"

MAX_START_MS = 15


def append(host, state, issue, *flags):
    """The command that states four hours for an issue."""
    return [host, "run", LEDGER, "append", "--entity", f"{REPO}#{issue}", "--fields-json", '{"eat_hours":4}',
            "--observed-at", OBSERVED_AT, "--now", NOW, "--state-dir", state, *flags]


def start(host, work, times, lines):
    """From spawn to exit of a command that reads and writes no ledger."""
    command = append(host, work / "start", 7, "--dry-run")
    measure.run(command)
    walls = [measure.run(command).wall_s for _ in range(times)]
    lines.add("start: append --dry-run", f"median of {times}", statistics.median(walls) * 1000, "ms", at_most=MAX_START_MS)


def spool(host, work, shape, lines):
    """Processes that append to one spool at the same time: every observation is there, none twice."""
    processes, appends = shape
    state = work / "spool"
    measure.run([host, "run", LEDGER, "init", "--apply", "--state-dir", state, "--now", NOW])
    started = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for done in [pool.submit(append_many, host, state, lane, appends) for lane in range(processes)]:
            done.result()
    wall_s = time.perf_counter() - started
    total = processes * appends
    case = f"spool: {processes} processes x {appends:,} appends"
    issues = spooled_issues(state / LEDGER / "spool")
    lines.add(case, "missing", sum(issues[issue] == 0 for issue in range(1, total + 1)), "", at_most=0)
    lines.add(case, "twice", sum(count > 1 for count in issues.values()), "", at_most=0)
    lines.add(case, "never appended", sum(issue < 1 or issue > total for issue in issues), "", at_most=0)
    lines.add(case, "pending by `spool --status`", pending(host, state), "", at_least=total, at_most=total)
    lines.add(case, "wall", wall_s, "s")
    lines.add(case, "rate", total / wall_s, "/s")


def append_many(host, state, lane, appends):
    for number in range(appends):
        measure.run(append(host, state, lane * appends + number + 1, "--spool", "--quiet"))


def spooled_issues(folder):
    """How often each issue stands in the spool. A file that is no envelope is a BenchError, leftovers included."""
    issues = collections.Counter()
    for path in folder.iterdir():
        try:
            text = path.read_text(encoding="utf-8").strip().removeprefix(PREFIX)
            issues[json.loads(text)["entity"]["issue"]] += 1
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise measure.BenchError(f"{path} in the spool is not an envelope: {error!r}") from error
    return issues


def pending(host, state):
    answer = measure.run([host, "run", LEDGER, "spool", "--status", "--state-dir", state]).stdout
    found = re.search(rf"^{LEDGER}: pending=(\d+)\b", answer, re.MULTILINE)
    if found is None:
        raise measure.BenchError(f"`spool --status` does not say what is pending: {answer.strip()!r}")
    return int(found.group(1))
