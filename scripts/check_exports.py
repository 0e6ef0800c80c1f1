#!/usr/bin/env python3
"""Opens exports of phyxel with programs that others wrote, and compares them with the frames of the result.

    python3 -m venv venv && venv/bin/pip install -r scripts/requirements.txt
    cargo build --release && venv/bin/python scripts/check_exports.py

Two small scenes are run: one with several bodies, one whose particles are split and merged. For every format and program the
numbers of particles, bounding boxes, ids, velocities and times of frames are compared; a table is printed, and the exit code is 1
if anything differs. Without bpy the rows of Blender are left out, with a note.
"""

import argparse
import pathlib
import sys

import numpy as np

from checking import BLENDER_TOLERANCE, FIRST_FRAME, ROOT, Frame, NoBlender
from checking import answer, ask_blender, box_of, export, near, parser, report, run, y_up_to_z_up

SCENES = [
    ("bodies", ROOT / "scenes/tutorials/04_slopes.toml", ["--frames", "12"]),
    ("splits", ROOT / "scenes/papers/jones-2014/fig5.toml", ["--frames", "8", "--set", "bodies.bar.spacing=0.1"]),
]
TARGETS = {"usd": "{}.usda", "vtp": "{}_vtp", "ply": "{}_ply", "obj": "{}_obj", "npz": "{}.npz"}
QUANTITIES = ["particles", "box", "ids", "velocities", "times"]


def compare(frames, found, turn=lambda vectors: vectors, tolerance=0.0):
    """Compares what a program found with frames: a verdict for each quantity. `found` is a list of dictionaries; a quantity
    that the format does not carry is missing in them."""
    verdicts = {quantity: "ok" for quantity in QUANTITIES}
    for frame, there in zip(frames, found, strict=True):
        here = frame.by_body() if there.get("by_body") else frame.values
        # readers of text may keep more digits than were written
        there = there | {"positions": np.asarray(there["positions"], np.float32).reshape(-1, 3)}
        positions = turn(here["positions"])
        is_near = lambda a, b: near(a, b, tolerance)
        same = {
            "particles": len(there["positions"]) == len(positions),
            "box": is_near(box_of(there["positions"]), box_of(positions)) and is_near(there["positions"], positions),
            "ids": "ids" not in there or np.array_equal(there["ids"], here["ids"]),
            "velocities": "velocities" not in there or is_near(there["velocities"], turn(here["velocities"])),
            "times": "time" not in there or abs(there["time"] - frame.time) < 1e-12,
        }
        for quantity, is_same in same.items():
            if not is_same:
                verdicts[quantity] = "DIFFERS"
    for quantity, key in [("ids", "ids"), ("velocities", "velocities"), ("times", "time")]:
        if all(key not in there for there in found):
            verdicts[quantity] = "-"
    return verdicts


def read_usd(path, numbers):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (numbers[0], numbers[-1])
    assert stage.GetFramesPerSecond() == stage.GetTimeCodesPerSecond()
    prims = [UsdGeom.Points(prim) for prim in stage.GetDefaultPrim().GetChildren()]
    for code in numbers:
        parts = {"positions": [], "velocities": [], "ids": []}
        for prim in prims:
            points, widths = prim.GetPointsAttr().Get(code), prim.GetWidthsAttr().Get(code)
            computed = UsdGeom.Points.ComputeExtent(points, widths)
            assert np.allclose(computed, prim.GetExtentAttr().Get(code), rtol=1e-6, atol=1e-6)
            parts["positions"].append(np.array(points).reshape(-1, 3))
            parts["velocities"].append(np.array(prim.GetVelocitiesAttr().Get(code)).reshape(-1, 3))
            parts["ids"].append(np.array(prim.GetIdsAttr().Get(code)))
            primvars = UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithAuthoredValues()
            assert all(len(primvar.Get(code)) == len(points) for primvar in primvars), "primvars"
        found = {name: np.concatenate(values) for name, values in parts.items()}
        yield found | {"time": code / stage.GetTimeCodesPerSecond(), "by_body": True}


def read_pyvista_vtp(path, numbers):
    import pyvista

    reader = pyvista.get_reader(path / f"{path.name}.pvd")
    assert len(reader.time_values) == len(numbers)
    for time in reader.time_values:
        reader.set_active_time_value(time)
        mesh = reader.read()[0]
        assert mesh.n_verts == mesh.n_points and mesh.field_data["TimeValue"][0] == time
        assert len(mesh.field_data["body_names"]) == 1 + mesh["body"].max()
        yield {"positions": mesh.points, "velocities": mesh["velocity"], "ids": mesh["id"], "time": time}


def read_meshio_ply(path, numbers):
    import meshio

    for number in numbers:
        mesh = meshio.read(path / f"{path.name}_{number:04}.ply")
        data = mesh.point_data
        velocities = np.stack([data["v" + axis] for axis in "xyz"], axis=1)
        yield {"positions": mesh.points, "velocities": velocities, "ids": data["id"]}


def read_pyvista(path, numbers, ending):
    import pyvista

    for number in numbers:
        mesh = pyvista.read(path / f"{path.name}_{number:04}.{ending}")
        yield {"positions": mesh.points, "by_body": ending == "obj"}


def read_meshio_obj(path, numbers):
    import meshio

    for number in numbers:
        yield {"positions": meshio.read(path / f"{path.name}_{number:04}.obj").points, "by_body": True}


def read_npz(path, numbers):
    with np.load(path) as arrays:
        assert arrays["frames"].tolist() == list(numbers)
        assert arrays["body_names"].dtype.kind == "U"
        for place, (number, time) in enumerate(zip(numbers, arrays["times"])):
            one = lambda name: arrays[name][place] if name in arrays else arrays[f"{name}_{number:04}"]
            ids = arrays["ids"] if "ids" in arrays else arrays[f"ids_{number:04}"]
            yield {"positions": one("positions"), "velocities": one("velocities"), "ids": ids, "time": time}


READERS = [
    ("usd", "usd-core", read_usd),
    ("vtp", "pyvista", read_pyvista_vtp),
    ("ply", "meshio", read_meshio_ply),
    ("ply", "pyvista", lambda path, numbers: read_pyvista(path, numbers, "ply")),
    ("obj", "meshio", read_meshio_obj),
    ("obj", "pyvista", lambda path, numbers: read_pyvista(path, numbers, "obj")),
    ("npz", "numpy", read_npz),
]


def inside_blender(kind, path, numbers):
    """Imports a file in Blender and prints what is there."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    imports = {"usd": bpy.ops.wm.usd_import, "ply": bpy.ops.wm.ply_import, "obj": bpy.ops.wm.obj_import}
    scene = bpy.context.scene
    found = []
    if kind == "usd":
        imports[kind](filepath=path)
        assert (scene.frame_start, scene.frame_end) == (numbers[0], numbers[-1]), "range of frames"
    for number in numbers:
        if kind == "usd":
            scene.frame_set(number)
        else:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            name = pathlib.Path(path).name
            imports[kind](filepath=f"{path}/{name}_{number:04}.{kind}")
        graph = bpy.context.evaluated_depsgraph_get()
        frame = {"positions": [], "velocities": [], "ids": [], "by_body": kind != "ply"}
        parts = {}
        for thing in bpy.context.scene.objects:
            if thing.type not in ("POINTCLOUD", "MESH"):
                continue
            evaluated = thing.evaluated_get(graph)
            data, turn = evaluated.data, np.array(evaluated.matrix_world)[:3, :3]

            def read(name):
                attribute = data.attributes[name]
                kind = np.int32 if attribute.data_type == "INT" else np.float32
                field, width = ("vector", 3) if attribute.data_type == "FLOAT_VECTOR" else ("value", 1)
                values = np.zeros(width * len(attribute.data), kind)
                attribute.data.foreach_get(field, values)
                return values.reshape(-1, 3) if width == 3 else values

            part = {"positions": read("position") @ turn.T}
            if "velocity" in data.attributes:
                part["velocities"] = read("velocity") @ turn.T
            if "vx" in data.attributes:
                part["velocities"] = np.stack([read("v" + axis) for axis in "xyz"], axis=1) @ turn.T
            if "id" in data.attributes:
                part["ids"] = read("id")
            parts[thing.name] = part
        # Blender sorts objects by name; ids tell the order of the bodies, and an OBJ becomes one object
        order = sorted(parts, key=lambda name: parts[name]["ids"][0] if "ids" in parts[name] else 0)
        for key in ("positions", "velocities", "ids"):
            if all(key in parts[name] for name in order):
                frame[key] = np.concatenate([parts[name][key] for name in order]).tolist()
            else:
                del frame[key]
        found.append(frame)
    answer({"version": bpy.app.version_string, "frames": found})


def check_scene(program, folder, scene, path, options):
    """Rows of the table for one scene."""
    result = folder / scene
    run(program, path, result, *options)
    files = sorted((result / "frames").glob("particles_*.ply"))
    numbers = range(FIRST_FRAME, len(files))
    frames = [Frame(files[number]) for number in numbers]
    counts = {len(frame.body) for frame in frames}
    print(f"{scene}: {len(frames)} frames, {min(counts)} to {max(counts)} particles, {path.relative_to(ROOT)}")
    for key, name in TARGETS.items():
        export(program, result, key, folder / name.format(scene))
    for key, reader, read in READERS:
        target = folder / TARGETS[key].format(scene)
        yield [scene, key, reader, *compare(frames, list(read(target, numbers))).values()]
    for key in ("usd", "ply", "obj"):
        target = folder / TARGETS[key].format(scene)
        some = [numbers[0], numbers[len(numbers) // 2], numbers[-1]]
        try:
            found = ask_blender(__file__, "--inside-blender", key, target, ",".join(map(str, some)))
        except NoBlender:
            print("bpy is not installed: Blender is left out")
            return
        chosen = [frames[number - FIRST_FRAME] for number in some]
        verdicts = compare(chosen, found["frames"], turn_of(key), BLENDER_TOLERANCE)
        yield [scene, key, f"Blender {found['version']}", *verdicts.values()]


def turn_of(key):
    """PLY says nothing of an up axis, and Blender's importer takes z."""
    return (lambda vectors: vectors) if key == "ply" else y_up_to_z_up


def check_all(program, folder):
    for scene, path, options in SCENES:
        yield from check_scene(program, folder, scene, path, options)


def main():
    options = parser(__doc__)
    options.add_argument("--inside-blender", nargs=3, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.inside_blender:
        kind, path, numbers = arguments.inside_blender
        return inside_blender(kind, path, [int(number) for number in numbers.split(",")])
    return report(arguments, ["scene", "format", "read by", *QUANTITIES], check_all)


if __name__ == "__main__":
    sys.exit(main())
