#!/usr/bin/env python3
"""Damages result folders at random and runs every reader on them: damage must be named, or harmless (the output is that of the
whole result). `resume` must end with the bytes of the whole result, or name what cannot be computed again."""

import random
import shutil
import sys

import trials

N_FRAMES = "8"
READERS = [
    ["render", "RESULT", "-o", "x.gif", "--size", "48x48", "--quality", "draft"],
    ["export", "RESULT", "--format", "html", "-o", "x.html", "--force"],
    ["export", "RESULT", "--format", "usd", "-o", "x.usda", "--force"],
    ["export", "RESULT", "--format", "npz", "-o", "x.npz", "--force"],
]


def damaged(data, others, generator):
    """Returns damaged bytes of a file and the name of the damage; None removes the file."""
    at = generator.randrange(len(data))
    kind = generator.choice(["bit", "byte", "cut", "longer", "zeros", "empty", "removed", "another", "blocks"])
    if kind == "bit":
        return data[:at] + bytes([data[at] ^ (1 << generator.randrange(8))]) + data[at + 1:], kind
    if kind == "byte":
        return data[:at] + bytes([generator.randrange(256)]) + data[at + 1:], kind
    if kind == "cut":
        return data[:at], kind
    if kind == "longer":
        return data + generator.choice([b"\0", b"\n", b"0,1\n", data[-16:]]), kind
    if kind == "zeros":
        return data[:at] + bytes(min(512, len(data) - at)) + data[at + 512:], kind
    if kind == "empty":
        return b"", kind
    if kind == "removed":
        return None, kind
    if kind == "another":
        return generator.choice(others), kind
    end = min(len(data), at + 64)
    return data[:at] + data[end:] + data[at:end], kind


def read(place, reader, result):
    """Runs a reader; returns what it said and the bytes of its output."""
    words = [result if word == "RESULT" else word for word in reader]
    ended = place.run(*words, threads=reader[0] == "render")
    output = place.path / reader[reader.index("-o") + 1]
    data = output.read_bytes() if output.exists() else None
    output.unlink(missing_ok=True)
    return ended, data.replace(result.encode(), b"RESULT") if data else data


def trial(place, method, generator, truth, outputs):
    """Damages a copy of a result; returns what is wrong, or None, and whether the damage changed anything."""
    source, folder = place.path / f"whole_{method}", place.path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    changed = []
    for file in generator.sample(files, generator.choice([1, 1, 1, 2, 3])):
        data = file.read_bytes()
        siblings = [other.read_bytes() for other in files if other.suffix == file.suffix and other.exists()]
        new, kind = damaged(data, siblings, generator)
        if new == data:
            continue
        changed.append((file, kind))
        file.unlink() if new is None else file.write_bytes(new)
    if not changed:
        return None, False
    what = f"{method}, " + ", ".join(f"{kind} of {file.relative_to(folder)}" for file, kind in changed)

    def names_it(ended):
        text = ended.stderr + ended.stdout
        return any(file.name in text for file, _ in changed) or "no result folder" in text

    verified = place.run("verify", "damaged", threads=False)
    # a checkpoint that is gone is needed by nobody: `resume` begins at another one
    is_needless = all(kind == "removed" and file.suffix == ".state" for file, kind in changed)
    if not is_needless and (verified.returncode == 0 or not names_it(verified)):
        return f"{what}: verify: {verified.returncode} {verified.stderr}", True
    reader = generator.choice(READERS)
    ended, output = read(place, reader, "damaged")
    is_harmless = ended.returncode == 0 and output == outputs[tuple(reader)]
    if not is_harmless and (ended.returncode == 0 or not names_it(ended)):
        return f"{what}: {' '.join(reader)}: {ended.returncode} {ended.stderr}", True
    # metadata that are lost no longer tell the last frame
    resume = ["resume", "damaged", "--frames", N_FRAMES]
    resumed = place.run(*resume)
    if "--from-start" in resumed.stderr:
        resumed = place.run(*resume, "--from-start")
    if resumed.returncode == 0:
        differs = trials.difference(truth, trials.contents(folder))
        return (f"{what}: resume: {differs} differs" if differs else None), True
    is_input = any(file.name == "scene.toml" or file.parent.name == "meshes" for file, _ in changed)
    has_all = any(file.name == "run.json" for file, _ in changed)
    if names_it(resumed) and (is_input or has_all):
        return None, True
    return f"{what}: resume: {resumed.returncode} {resumed.stderr}", True


def main():
    options = trials.arguments(__doc__, folders=1000)
    generator = random.Random(options.seed)
    failures, n_damaged = [], 0
    with trials.Place(options.phyxel, has_skins=True) as place:
        for number, method in enumerate(place.methods):
            truth = place.whole(method, "--frames", N_FRAMES)
            outputs = {tuple(reader): read(place, reader, f"whole_{method}")[1] for reader in READERS}
            count = options.folders
            for _ in range(count * number // len(place.methods), count * (number + 1) // len(place.methods)):
                is_damaged = False
                while not is_damaged:
                    failure, is_damaged = trial(place, method, generator, truth, outputs)
                n_damaged += 1
                failures += [failure] if failure else []
    return trials.conclude(failures, f"{n_damaged} damaged folders")


if __name__ == "__main__":
    sys.exit(main())
