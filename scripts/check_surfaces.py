#!/usr/bin/env python3
"""Opens exports of surfaces with programs that others wrote, and compares them with the surfaces of the result.

    python3 -m venv venv && venv/bin/pip install -r scripts/requirements.txt
    cargo build --release && venv/bin/python scripts/check_surfaces.py

Two small scenes are run: a body that carries its own mesh, with texture coordinates, normals and groups, beside one that has only
particles; and a skin, whose vertices and faces are others in every frame, beside the mesh of a shape. The first row compares the
result with the mesh that was put in, all others an export with the result: every vertex and every corner of every frame, in Blender
of three frames. "valid" is the word of USD's own validators. The exit code is 1 if anything differs. "-" is what there is not: in
the surface, in the format, or for the program. Without bpy the rows of Blender are left out, with a note.
"""

import copy
import json
import sys
import traceback

import numpy as np

import surface_readers as readers
from checking import BLENDER_TOLERANCE, FIRST_FRAME, Frame, NoBlender, Surface
from checking import ask_blender, box_of, export, near, parser, report, run, y_up_to_z_up
from surface_scenes import PLACE, SURFACES, write_scene

TARGETS = {"usd": "{}.usda", "vtp": "{}_vtp", "ply": "{}_ply", "obj": "{}_obj"}
QUANTITIES = ["faces", "points", "box", "velocities", "normals", "uvs", "groups", "particles", "times", "valid"]
READERS = [
    ("usd", "usd-core", readers.read_usd, set()),
    ("vtp", "pyvista", readers.read_vtp, {"valid"}),
    ("ply", "pyvista", readers.read_vtk_ply, {"velocities", "groups", "times", "valid"}),
    ("ply", "meshio", readers.read_meshio_ply, {"box", "uvs", "groups", "times", "valid"}),
    ("obj", "pyvista", readers.read_vtk_obj, {"velocities", "particles", "times", "valid"}),
    ("obj", "meshio", readers.read_meshio_obj, {"box", "velocities", "uvs", "groups", "particles", "times", "valid"}),
]
"""Formats, programs, their readers, and what these do not find: VTK and Blender know no particles in an OBJ with faces."""
BLENDER = {
    "usd": {"times", "valid"},
    "ply": {"uvs", "groups", "times", "valid"},
    "obj": {"velocities", "particles", "times", "valid"},
}
"""What Blender does not find."""
UNREADABLE = {
    ("mesh", "ply", "meshio"): (IndexError, "meshio reads no PLY with several properties of faces"),
    ("mesh", "obj", "meshio"): (ValueError, "meshio reads no OBJ with more texture coordinates or normals than vertices"),
}
"""What a program cannot read, through no fault of the export: the error that it ends with, and why."""
NORMAL_TOLERANCE = 0.02
"""Blender packs normals of corners into two numbers of 16 bits; what comes out differs from run to run, by up to 0.006 so far."""


class Moment:
    """What a result has in a frame: surfaces, and particles of bodies without one, by name of the body."""

    def __init__(self, result, number):
        bodies = json.loads((result / "run.json").read_text())["bodies"]
        frame = Frame(result / f"frames/particles_{number:04}.ply")
        self.time, self.surfaces, self.particles = frame.time, {}, {}
        for place, body in enumerate(bodies):
            name = body["name"]
            if body.get("surface"):
                self.surfaces[name] = Surface(result / f"frames/surface_{name}_{number:04}.ply")
            else:
                self.particles[name] = frame.values["positions"][frame.body == place]
        assert all(surface.time == frame.time for surface in self.surfaces.values()), "times"

    def joined(self):
        """All surfaces in one, for programs that read them so."""
        surfaces = list(self.surfaces.values())
        starts = np.cumsum([0, *(len(surface.points) for surface in surfaces)])
        whole = copy.copy(surfaces[0])
        for name in ("points", "velocities", "sizes", "normals"):
            setattr(whole, name, np.concatenate([getattr(surface, name) for surface in surfaces]))
        whole.corners = np.concatenate([surface.corners + start for surface, start in zip(surfaces, starts)])
        assert len(surfaces) == 1 or all(surface.uvs is None for surface in surfaces), "not needed so far"
        return whole


def groups_of(surface):
    """Faces by name of their group."""
    if surface.face_groups is None:
        return {}
    return {name: np.flatnonzero(surface.face_groups == k) for k, name in enumerate(surface.group_names)}


def compare_groups(surface, found):
    here, there = groups_of(surface), found.get("groups", {})
    if here and list(here) != list(there) and len(here) == len(there):
        # Blender's material slots are named after body and group
        there = dict(zip(here, (there[slot] for name in here for slot in there if slot.endswith(name.replace(" ", "_")))))
    if "vertices_of_groups" in found:
        # Blender has no groups of faces, and OBJ no blanks in names
        there, owners = found["vertices_of_groups"], np.repeat(np.arange(len(surface.sizes)), surface.sizes)
        vertices = lambda faces: np.unique(surface.corners[np.isin(owners, faces)])
        here = {name.replace(" ", "_"): vertices(faces) for name, faces in here.items()}
    if here and "group_runs" in found:
        ends = np.diff(surface.face_groups, prepend=surface.face_groups[0]) != 0
        here, there = {"runs": np.cumsum(ends)}, {"runs": found["group_runs"]}
    if not here and not there:
        return "-"
    is_same = list(here) == list(there) and all(np.array_equal(here[name], there[name]) for name in here)
    return "ok" if is_same else "DIFFERS"


def compare_surface(surface, found, turn, tolerance, normal_tolerance):
    """A verdict for each quantity of a surface."""

    def verdict(key, values, within=tolerance):
        if values is None:
            return "DIFFERS" if key in found else "-"
        if key not in found:
            return "MISSING"
        # readers of text may keep more digits than were written
        return "ok" if near(np.asarray(found[key], np.float32), values, within) else "DIFFERS"

    at_points = lambda values: turn(values if "corners" in found else values[surface.corners])
    is_same = np.array_equal(found["sizes"], surface.sizes)
    is_same = is_same and np.array_equal(found.get("corners", surface.corners), surface.corners)
    normals = "vertex_normals" if "vertex_normals" in found else "normals"
    return {
        "faces": "ok" if is_same else "DIFFERS",
        "points": verdict("points", at_points(surface.points)),
        "box": verdict("box", box_of(turn(surface.points))),
        "velocities": verdict("velocities", at_points(surface.velocities)),
        "normals": verdict(normals, turn(getattr(surface, normals)), normal_tolerance),
        "uvs": verdict("uvs", surface.uvs, 0.0),
        "groups": compare_groups(surface, found),
    }


def compare_particles(particles, found, turn, tolerance):
    if isinstance(found, dict):
        is_same = set(particles) == set(found)
        return is_same and all(near(found[name], turn(particles[name]), tolerance) for name in particles)
    together = np.concatenate([np.zeros((0, 3), np.float32), *particles.values()])
    return near(found, turn(together), tolerance)


def compare(moments, found, lost, turn=lambda vectors: vectors, tolerance=0.0, normal_tolerance=0.0):
    """Compares what a program found with moments: a verdict for each quantity, the worst of all frames. What is in `lost` is not
    looked for."""
    verdicts = {quantity: set() for quantity in QUANTITIES}
    for moment, there in zip(moments, found, strict=True):
        surfaces = {None: moment.joined()} if None in there["surfaces"] else moment.surfaces
        assert set(surfaces) == set(there["surfaces"]), f"surfaces: {list(there['surfaces'])}"
        for name, surface in surfaces.items():
            same = compare_surface(surface, there["surfaces"][name], turn, tolerance, normal_tolerance)
            for quantity, verdict in same.items():
                verdicts[quantity].add(verdict)
        say = lambda quantity, is_same: verdicts[quantity].add("ok" if is_same else "DIFFERS")
        if moment.particles or len(there.get("particles", [])):
            say("particles", compare_particles(moment.particles, there.get("particles", {}), turn, tolerance))
        say("times", abs(there.get("time", np.inf) - moment.time) < 1e-12)
        say("valid", there.get("is_valid"))
    worst = lambda seen: next((word for word in ("DIFFERS", "MISSING", "ok") if word in seen), "-")
    return ["-" if quantity in lost else worst(seen) for quantity, seen in verdicts.items()]


def check_input(moments, ball):
    """A row for the result itself: is it the mesh that was put in? Later on it is another in shape only."""
    groups = {name: np.flatnonzero(ball.face_groups == k) for k, name in enumerate(ball.group_names)}
    surface = {"sizes": ball.sizes, "corners": ball.corners, "uvs": ball.uvs, "groups": groups, "normals": ball.normals}
    surface["points"] = ball.points + np.array(PLACE, np.float32)
    found = [{"surfaces": {"ball": surface}} for _ in moments]
    never = {"box", "velocities", "particles", "times", "valid"}
    first = compare(moments[:1], found[:1], never, tolerance=1e-6, normal_tolerance=1e-6)
    later = compare(moments, found, never | {"points", "normals"})
    return [word if word != "ok" else other if other != "-" else word for word, other in zip(first, later)]


def verdicts_of(row, moments, read, lost, **options):
    """What `compare` says of what `read` finds, or that a program cannot read an export."""
    try:
        return compare(moments, read(), lost, **options)
    except NoBlender:
        raise
    except Exception as error:
        kind, why = UNREADABLE.get(tuple(row), ((), ""))
        if isinstance(error, kind):
            print(f"{', '.join(row)}: {why}")
            return ["-"] * len(QUANTITIES)
        traceback.print_exc()
        return ["FAILS"] * len(QUANTITIES)


def check_scene(program, folder, scene):
    """Rows of the table for one scene."""
    result = folder / scene
    path, ball = write_scene(folder, scene)
    run(program, path, result)
    numbers = range(len(list((result / "frames").glob("particles_*.ply"))))
    moments = [Moment(result, number) for number in numbers]
    bodies = list(moments[0].surfaces)
    for name in bodies:
        counts = [len(moment.surfaces[name].points) for moment in moments]
        print(f"{scene}: {len(numbers)} frames, a surface of {min(counts)} to {max(counts)} vertices on the {name}")
    if scene == "mesh":
        yield [scene, "result", "input mesh", *check_input(moments, ball)]
    moments, numbers = moments[FIRST_FRAME:], numbers[FIRST_FRAME:]
    for key, name in TARGETS.items():
        export(program, result, key, folder / name.format(scene))
    for key, reader, read, lost in READERS:
        target, row = folder / TARGETS[key].format(scene), [scene, key, reader]
        yield [*row, *verdicts_of(row, moments, lambda: list(read(target, numbers, bodies)), lost)]
    for key, lost in BLENDER.items():
        target, row = folder / TARGETS[key].format(scene), [scene, key, "Blender"]
        some = [0, len(numbers) // 2, len(numbers) - 1]
        asked = [readers.__file__, key, target, ",".join(str(numbers[k]) for k in some), ",".join(bodies)]
        # PLY says nothing of an up axis, and Blender's importer takes z
        options = {} if key == "ply" else {"turn": y_up_to_z_up}
        options |= {"tolerance": BLENDER_TOLERANCE, "normal_tolerance": NORMAL_TOLERANCE}
        try:
            read = lambda: ask_blender(*asked)["frames"]
            yield [*row, *verdicts_of(row, [moments[k] for k in some], read, lost, **options)]
        except NoBlender:
            print("bpy is not installed: Blender is left out")
            return


def check_all(program, folder):
    for scene in SURFACES:
        yield from check_scene(program, folder, scene)


if __name__ == "__main__":
    sys.exit(report(parser(__doc__).parse_args(), ["scene", "format", "read by", *QUANTITIES], check_all))
