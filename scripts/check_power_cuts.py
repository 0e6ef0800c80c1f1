#!/usr/bin/env python3
"""Cuts the power at random moments, and resumes: every result must have the bytes of an undisturbed run.

The system calls of real runs are recorded by strace. From such a recording a state of the disk after a cut is built: what was
synced before the cut is there; of everything else nothing, a part in the order of a journal, or any part may be there, and files
whose data was not synced are empty, cut off, or full of zeros."""

import random
import re
import shutil
import subprocess
import sys

import trials

CALLS = "open,openat,creat,close,write,writev,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir"
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
UNFINISHED = re.compile(r"^(\d+) +(\w+\(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")
STRING = r'"((?:\\x..)*)"'
ROOT = "out"
GONE = "gone"


class File:
    """A file: its data in memory, and the data that is known to be on the disk."""

    def __init__(self, data=b"", synced=None):
        self.data, self.synced = bytearray(data), synced


class Disk:
    """Names and files as the system sees them (`names`), and as they are after a loss of power (`synced`). A folder is None."""

    def __init__(self, folder):
        self.names = {}
        if folder.exists():
            self.names[ROOT] = None
            for path in folder.rglob("*"):
                data = None if path.is_dir() else path.read_bytes()
                self.names[f"{ROOT}/{path.relative_to(folder)}"] = None if data is None else File(data, data)
        self.synced = dict(self.names)
        self.pending = []
        self.open = {}

    def change(self, path, file):
        """Gives a name to a file, or takes it away; this is not on the disk yet."""
        apply(self.names, path, file)
        self.pending.append((path, file))

    def sync_folder(self, path):
        inside = [change for change in self.pending if change[0].rpartition("/")[0] == path]
        self.pending = [change for change in self.pending if change not in inside]
        for name, file in inside:
            apply(self.synced, name, file)

    def call(self, name, arguments, result):
        """Follows a system call that succeeded."""
        texts = [decoded(text).decode("utf-8", "replace") for text in re.findall(STRING, arguments)]
        first = arguments.split(",")[0].strip()
        opened = self.open.get(int(first)) if first.isdigit() else None
        path = clean(f"{opened}/{texts[0]}" if isinstance(opened, str) and texts else (texts or [""])[0])
        is_ours = path == ROOT or path.startswith(ROOT + "/")
        if name in ("open", "openat", "creat"):
            self.open_file(path, is_ours, arguments, result)
        elif name == "close":
            self.open.pop(int(first), None)
        elif name in ("write", "pwrite64", "writev") and isinstance(opened, File):
            opened.data += b"".join(decoded(text) for text in re.findall(STRING, arguments))[:result]
        elif name in ("fsync", "fdatasync") and isinstance(opened, File):
            opened.synced = bytes(opened.data)
        elif name in ("fsync", "fdatasync") and isinstance(opened, str):
            self.sync_folder(opened)
        elif name.startswith("rename") and is_ours:
            self.change(clean(texts[1]), self.names[path])
            self.change(path, GONE)
        elif name.startswith("mkdir") and is_ours:
            self.change(path, None)
        elif name in ("unlink", "rmdir", "unlinkat") and path in self.names:
            self.change(path, GONE)

    def open_file(self, path, is_ours, arguments, result):
        """Follows the opening of a file or folder."""
        self.open.pop(result, None)
        if path == "." or (is_ours and self.names.get(path, GONE) is None):
            self.open[result] = "" if path == "." else path
            return
        if is_ours and path not in self.names and "O_CREAT" in arguments:
            self.change(path, File())
        file = self.names.get(path)
        if isinstance(file, File):
            # an overwritten file keeps its old data on the disk until it is synced
            file.data = bytearray() if "O_TRUNC" in arguments else file.data
            self.open[result] = file

    def after_a_cut(self, mode, generator):
        """Returns names and data that may be on the disk after a loss of power now."""
        names = dict(self.synced)
        if mode == "journal":
            survivors = self.pending[:generator.randint(0, len(self.pending))]
        elif mode == "anything":
            survivors = [change for change in self.pending if generator.random() < 0.5]
        else:
            survivors = []
        for path, file in survivors:
            apply(names, path, file)
        return {path: self.data_after(file, mode, generator) for path, file in names.items()}

    @staticmethod
    def data_after(file, mode, generator):
        if file is None:
            return None
        data, synced = bytes(file.data), file.synced
        if synced == data:
            return data
        if synced is not None and data.startswith(synced):
            # a file that grows keeps what was synced
            rest = data[len(synced):]
            grown = [b"", rest[:generator.randrange(len(rest) + 1)], bytes(len(rest))]
            return synced + (b"" if mode == "nothing" else generator.choice(grown))
        kept = [synced or b"", b"", bytes(len(data)), data[:generator.randrange(len(data) + 1)]]
        return (synced or b"") if mode == "nothing" else generator.choice(kept)


def apply(names, path, file):
    if file == GONE:
        for name in [name for name in names if name == path or name.startswith(path + "/")]:
            del names[name]
    else:
        names[path] = file


def clean(path):
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/").replace("//", "/")


def decoded(text):
    return bytes.fromhex(text.replace("\\x", ""))


def recorded(place, words):
    """Runs the program under strace; returns its calls that succeeded, in their order."""
    log = place.path / "calls.log"
    command = ["strace", "-f", "-qq", "-xx", "-s", "100000000", "-e", f"trace={CALLS}", "-o", str(log)]
    subprocess.run(command + place.command(*words), cwd=place.path, check=True, capture_output=True)
    calls, begun = [], {}
    for line in log.read_text().splitlines():
        unfinished, resumed = UNFINISHED.match(line), RESUMED.match(line)
        if unfinished:
            begun[unfinished[1]] = unfinished[2]
            continue
        if resumed:
            line = f"{resumed[1]} {begun.pop(resumed[1], '')}{resumed[2]}"
        call = LINE.match(line)
        if call and int(call[4]) >= 0:
            calls.append((call[2], call[3], int(call[4])))
    return calls


def write_state(folder, state):
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in sorted(state.items()):
        target = folder.parent / (folder.name + path[len(ROOT):])
        # a name without its folder cannot be reached
        if not target.parent.exists():
            continue
        if data is None:
            target.mkdir(exist_ok=True)
        else:
            target.write_bytes(data)


def trial(place, method, before, calls, whole, generator):
    """Cuts the power once and goes on; returns what is wrong, or None, and the moment."""
    disk = Disk(before)
    moment = generator.randrange(1, len(calls) + 1)
    for call in calls[:moment]:
        disk.call(*call)
    mode = generator.choice(["nothing", "journal", "anything"])
    folder = place.path / "cut"
    state = disk.after_a_cut(mode, generator)
    write_state(folder, state)
    saved = [path for path, data in state.items() if path.endswith(".state") and is_whole(disk, path, data)]
    what = f"{method}, call {moment} of {len(calls)}, {mode}"
    if not folder.exists():
        return None, "nothing"
    lost = listed_but_damaged(folder, whole)
    if lost:
        return f"{what}: {lost} is listed and not whole", ""
    ended = place.go_on("cut", method)
    if ended.returncode != 0:
        return f"{what}: {ended.stderr}", ""
    differs = trials.difference(whole, trials.contents(folder))
    if differs:
        return f"{what}: {differs} differs", ""
    going_on = re.search(r"going on from frame (\d+)", ended.stderr)
    last = max((int(path[-10:-6]) for path in saved), default=-1)
    start = int(going_on[1]) if going_on else -1
    # while a result is replaced, its metadata go first
    if start < last and (folder / "run.json").exists() and going_on:
        return f"{what}: checkpoint {last} was on the disk, resume began at {start}", ""
    return None, "resumed" if going_on else "begun again"


def is_whole(disk, path, data):
    """Tells whether a file that was synced is there as it was."""
    file = disk.synced.get(path)
    return isinstance(file, File) and file.synced == data == bytes(file.data)


def listed_but_damaged(folder, whole):
    """Returns a frame that run.json lists and that has not the bytes of the whole run, or run.json if it is damaged."""
    try:
        text = (folder / "run.json").read_text()
    except OSError:
        return None
    listed = re.search(r'"n_frames_written": (\d+)', text)
    if not listed:
        return "run.json"
    names = [f"particles_{number:04}.ply" for number in range(int(listed[1]))]
    for name in names:
        path = folder / "frames" / name
        if not path.exists() or path.read_bytes() != whole[name]:
            return name
    return None


def main():
    options = trials.arguments(__doc__, cuts=50)
    generator = random.Random(options.seed)
    failures, outcomes = [], {}
    with trials.Place(options.phyxel, has_skins=True) as place:
        traces = []
        for method in place.methods:
            whole = place.whole(method)
            out = place.path / ROOT
            shutil.rmtree(out, ignore_errors=True)
            missing = place.path / "missing"
            traces.append((method, missing, recorded(place, ["run", f"{method}.toml", "-o", ROOT, "-q"]), whole))
            # a run that goes on after a kill, and one that replaces another
            half = place.path / f"half_{method}"
            shutil.rmtree(out)
            place.run("run", f"{method}.toml", "-o", ROOT, "-q", "--frames", "12")
            shutil.copytree(out, half)
            resume = ["resume", ROOT, "-q", "--frames", str(trials.N_FRAMES)]
            traces.append((method, half, recorded(place, resume), whole))
            shutil.rmtree(out)
            shutil.copytree(half, out)
            again = ["run", f"{method}.toml", "-o", ROOT, "-q", "--force"]
            traces.append((method, half, recorded(place, again), whole))
        for number in range(options.cuts):
            method, before, calls, whole = traces[number % len(traces)]
            failure, outcome = trial(place, method, before, calls, whole, generator)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            failures += [failure] if failure else []
    shown = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()) if name)
    return trials.conclude(failures, f"{options.cuts} cuts ({shown})")


if __name__ == "__main__":
    sys.exit(main())
