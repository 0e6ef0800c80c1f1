#!/usr/bin/env python3
"""Ends runs by signals at random moments, also before the first frame, and resumes them: every result must have the bytes of a run
that was never stopped. SIGTERM, SIGHUP and Ctrl-C must end in a checkpoint and exit code 130."""

import random
import signal
import subprocess
import sys
import time

import trials

INTERRUPTED = 130


def trial(place, method, sent, delay, whole):
    """Stops a run after a delay and goes on; returns what is wrong, or None, and whether it was stopped on its way."""
    folder = place.path / "stopped"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    command = place.command("run", f"{method}.toml", "-o", "stopped", "-q")
    child = subprocess.Popen(command, cwd=place.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    child.send_signal(sent)
    _, stderr = child.communicate()
    what = f"{method}, {sent.name} after {delay:.3f} s"
    # a signal before the program listens to it ends it at once
    has_listened = child.returncode != -sent
    if sent != signal.SIGKILL and has_listened and child.returncode not in (0, INTERRUPTED):
        return f"{what}: exit code {child.returncode}: {stderr}", False
    if child.returncode == INTERRUPTED and '"interrupted"' not in (folder / "run.json").read_text():
        return f"{what}: run.json does not say interrupted", False
    if folder.exists():
        resumed = place.go_on("stopped", method)
        if resumed.returncode != 0:
            return f"{what}: resume: {resumed.stderr}", False
        differs = trials.difference(whole, trials.contents(folder))
        if differs:
            return f"{what}: {differs} differs", False
    return None, child.returncode != 0 and folder.exists()


def main():
    options = trials.arguments(__doc__, kills=200, terms=50, interrupts=50)
    generator = random.Random(options.seed)
    failures, n_stopped = [], 0
    kinds = [(signal.SIGKILL, options.kills), (signal.SIGTERM, options.terms), (signal.SIGINT, options.interrupts)]
    with trials.Place(options.phyxel) as place:
        for number, method in enumerate(place.methods):
            start = time.monotonic()
            whole = place.whole(method)
            duration = time.monotonic() - start
            for sent, count in kinds:
                for _ in range(count * number // len(place.methods), count * (number + 1) // len(place.methods)):
                    # a third before or about the first frame
                    share = generator.random() if generator.random() > 1 / 3 else 0.15 * generator.random()
                    failure, is_stopped = trial(place, method, sent, share * duration, whole)
                    n_stopped += is_stopped
                    failures += [failure] if failure else []
    counts = ", ".join(f"{count} {sent.name}" for sent, count in kinds)
    return trials.conclude(failures, f"{counts}: {n_stopped} runs stopped on their way and resumed")


if __name__ == "__main__":
    sys.exit(main())
