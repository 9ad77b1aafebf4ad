"""Runs a process and says how long it took and how much memory it needed.

The kernel counts the memory of this interpreter, up to the moment of exec, as the child's. So this program must stay
small: it never reads an export or a snapshot itself.
"""
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

# Variables that would send the host elsewhere or make it talk.
FOREIGN = ("HOST_", "COURSIA_", "ROOSYNC_", "RUST_LOG")
# A process that takes longer hangs: the longest fold is 100 times shorter.
DEADLINE_S = 600


class BenchError(Exception):
    """Something could not be measured; the text says what and why."""


@dataclasses.dataclass
class Run:
    wall_s: float
    # Bytes, the process alone.
    max_rss: int
    stdout: str


def environment():
    names = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**names, "NO_COLOR": "1"}


def run(command):
    """Runs the command to its end. An exit code other than 0 is a BenchError with the end of its stderr."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment())
        except OSError as error:
            raise BenchError(f"cannot start {command[0]}: {error}") from error
        deadline = threading.Timer(DEADLINE_S, os.kill, (process.pid, signal.SIGTERM))
        deadline.daemon = True
        deadline.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            wall_s = time.perf_counter() - started
        finally:
            deadline.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise BenchError(f"exit {process.returncode} of: {' '.join(command)}\n{tail(err)}")
        out.seek(0)
        return Run(wall_s, resident(usage), out.read().decode("utf-8", "replace"))


def tail(stream):
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")[-2000:].rstrip()


def resident(usage):
    # Linux counts in KiB, macOS in bytes.
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024
