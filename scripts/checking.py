"""What the checks of exports share: files of a result, read by the PLY specification alone, Blender in a process of its own, and
the table that is printed in the end."""

import argparse
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST_FRAME = 1
"""Exports begin here, so that numbers of frames and places in files differ."""
BLENDER_TOLERANCE = 1e-5
"""Blender turns y up into z up by a matrix of floats: metres of rounding in a scene of metres."""
BAD = ("DIFFERS", "MISSING", "FAILS")
"""Verdicts that make a check fail: another value, none where there should be one, and an export that a program cannot read."""
KINDS = {"uchar": "<u1", "int": "<i4", "uint": "<u4", "float": "<f4"}


class Header:
    """The header of a PLY file: counts and properties of its elements, and its comments."""

    def __init__(self, text):
        self.counts, self.properties, self.groups, self.time = {}, {}, [], None
        for line in text.splitlines():
            words = line.split()
            if words[0] == "element":
                element = words[1]
                self.counts[element], self.properties[element] = int(words[2]), []
            elif words[0] == "property":
                self.properties[element].append((words[-1], [KINDS[word] for word in words[1:-1] if word != "list"]))
            elif words[:2] == ["comment", "time"]:
                self.time = float(words[2])
            elif words[:2] == ["comment", "group"]:
                self.groups.append(line.split(" ", 3)[3])


def read_ply(path):
    """Header and vertices of a PLY file, and the bytes behind them."""
    head, _, rows = path.read_bytes().partition(b"end_header\n")
    header = Header(head.decode())
    row = np.dtype([(name, kinds[0]) for name, kinds in header.properties["vertex"]])
    table = np.frombuffer(rows, dtype=row, count=header.counts["vertex"])
    return header, table, rows[table.nbytes :]


def vectors(table, prefix=""):
    """Three columns as vectors."""
    return np.stack([table[prefix + axis] for axis in "xyz"], axis=1)


class Frame:
    """Particles of a frame of a result."""

    def __init__(self, path):
        header, table, _ = read_ply(path)
        self.time, self.body = header.time, table["body"]
        self.values = {"positions": vectors(table), "velocities": vectors(table, "v"), "ids": table["id"]}

    def by_body(self):
        """The same, body after body, each in order of id."""
        order = np.argsort(self.body, kind="stable")
        return {name: values[order] for name, values in self.values.items()}


class Surface:
    """A surface of a frame of a result. Normals and texture coordinates are those of corners; what it does not have is None."""

    def __init__(self, path):
        header, table, rest = read_ply(path)
        self.time, self.group_names = header.time, header.groups
        self.points, self.velocities = vectors(table), vectors(table, "v")
        columns, at = {name: [] for name, _ in header.properties["face"]}, 0
        for _ in range(header.counts["face"]):
            for name, kinds in header.properties["face"]:
                count = 1
                if len(kinds) == 2:
                    count = int(np.frombuffer(rest, kinds[0], 1, at)[0])
                    at += np.dtype(kinds[0]).itemsize
                columns[name].append(np.frombuffer(rest, kinds[-1], count, at))
                at += columns[name][-1].nbytes
        assert at == len(rest), f"{path}: bytes are left"
        joined = {name: np.concatenate(values) for name, values in columns.items()}
        self.sizes = np.array([len(face) for face in columns["vertex_indices"]])
        self.corners = joined["vertex_indices"]
        self.vertex_normals = vectors(table, "n")[self.corners]
        has_normals, has_uvs = "normals" in joined, "texcoord" in joined
        self.normals = joined["normals"].reshape(-1, 3) if has_normals else self.vertex_normals
        self.uvs = joined["texcoord"].reshape(-1, 2) if has_uvs else None
        self.face_groups = joined.get("group")


def near(a, b, tolerance=0.0):
    """Whether two arrays have the same shape and values."""
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0.0, atol=tolerance)


def box_of(points):
    return np.array([np.min(points, axis=0), np.max(points, axis=0)])


def y_up_to_z_up(vectors):
    return np.stack([vectors[:, 0], -vectors[:, 2], vectors[:, 1]], axis=1)


def run(program, scene, result, *options):
    subprocess.run([program, "run", scene, "-o", result, "-q", *options], check=True)


def export(program, result, key, target):
    arguments = ["--format", key, "-o", target, "--frames", f"{FIRST_FRAME}..", "-q"]
    subprocess.run([program, "export", result, *arguments], check=True)


class NoBlender(Exception):
    """There is no bpy."""


def ask_blender(script, *arguments):
    """What a script that runs in Blender answers. Blender has a process of its own: it and usd-core each
    have a USD, and one process bears only one."""
    ended = subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True)
    lines = [line for line in ended.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines and "No module named 'bpy'" in ended.stderr:
        raise NoBlender
    if not lines:
        raise RuntimeError(ended.stderr)
    return json.loads(lines[0].removeprefix("FOUND "))


def answer(found):
    """Prints what was found in Blender, for `ask_blender`."""
    print("\nFOUND " + json.dumps(found, default=lambda array: array.tolist()))


def parser(doc):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--phyxel", default=ROOT / "target/release/phyxel", help="the built program")
    parser.add_argument("--keep", type=pathlib.Path, help="an empty folder for results and exports, to look at them")
    return parser


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def report(arguments, head, rows_of):
    """Prints a table of the rows that `rows_of` gives for a program and a folder; the exit code is 1 if any is bad."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        rows = [head, *rows_of(str(arguments.phyxel), folder)]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(head))]
    packages = ["usd-core", "pyvista", "vtk", "meshio", "numpy", "bpy"]
    print(", ".join(f"{name} {version_of(name)}" for name in packages))
    for row in rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
    return 1 if any(cell in BAD for row in rows for cell in row) else 0
