"""What the checks of result folders share: small scenes of every method, runs of the program, and comparing results byte by byte.
Only Python's own library is needed."""

import argparse
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
N_FRAMES = 24

SCENE = """
title = "Trial"
method = "METHOD"
duration = "0.24 s"
frame_rate = 100

[materials.jelly]
density = 1000
youngs_modulus = "50 kPa"
poisson_ratio = 0.3
viscosity = "2 Pa.s"

[[bodies]]
name = "block"
material = "jelly"
shape.box = { size = [0.4, 0.4, 0.4] }
position = [0, 0.25, 0]
spacing = "10 cm"
velocity = [0.5, -2, 0]
angular_velocity = [0, 1, 0]
SURFACE

[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }
friction = 0.4

[[obstacles]]
name = "rock"
shape.mesh = { file = "rock.obj" }
position = [0.2, 0, 0]

[[events]]
time = "55 ms"
body = "block"
youngs_modulus = "20 kPa"

[output]
columns = ["velocity", "stress"]
checkpoint_every = 5
"""
ROCK = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def arguments(description, **counts):
    """Returns the options of a check: the program, the seed, and how many trials of each kind."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--phyxel", default=str(ROOT / "target/release/phyxel"))
    parser.add_argument("--seed", type=int, default=1)
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    options = parser.parse_args()
    options.phyxel = str(pathlib.Path(options.phyxel).resolve())
    return options


class Place:
    """A folder with a scene of each method, removed in the end. Commands run in it, on one thread."""

    def __init__(self, phyxel, has_skins=False):
        self.phyxel = phyxel
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="phyxel_trials_"))
        listed = self.run("list", "methods", threads=False).stdout.splitlines()[1:]
        self.methods = [line.split()[0] for line in listed if line.strip() and "(not built yet)" not in line]
        (self.path / "rock.obj").write_text(ROCK)
        surface = 'surface = { kind = "skin", smoothing = 2 }' if has_skins else ""
        for method in self.methods:
            text = SCENE.replace("METHOD", method).replace("SURFACE", surface)
            (self.path / f"{method}.toml").write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def command(self, *words, threads=True):
        return [self.phyxel, *words] + (["--threads", "1"] if threads else [])

    def run(self, *words, threads=True):
        """Runs the program to its end."""
        ended = subprocess.run(self.command(*words, threads=threads), cwd=self.path, capture_output=True, text=True)
        assert "panicked" not in ended.stderr, ended.stderr
        return ended

    def whole(self, method, *more):
        """Runs the scene of a method without a disturbance; returns the bytes of its result."""
        ended = self.run("run", f"{method}.toml", "-o", f"whole_{method}", "-q", *more)
        assert ended.returncode == 0, ended.stderr
        return contents(self.path / f"whole_{method}")

    def go_on(self, folder, method):
        """Resumes a result; if its run had not begun, as it then says, the scene is run again."""
        has_begun = (self.path / folder / "run.json").exists()
        resumed = self.run("resume", folder, "--frames", str(N_FRAMES))
        if resumed.returncode != 0 and not has_begun:
            resumed = self.run("run", f"{method}.toml", "-o", folder, "--force")
        return resumed


def contents(folder):
    """Returns the bytes of the frames and the ledger."""
    files = [folder / "ledger.csv", *sorted((folder / "frames").glob("*"))]
    return {file.name: file.read_bytes() for file in files if file.exists()}


def difference(left, right):
    """Returns the name of the first file that differs, or None."""
    names = sorted(left.keys() | right.keys())
    return next((name for name in names if left.get(name) != right.get(name)), None)


def conclude(failures, text):
    """Prints the outcome; returns the exit code."""
    for failure in failures[:20]:
        print(f"FAILS: {failure}")
    print(f"{text}, {len(failures)} failures")
    return 1 if failures else 0
