"""Reads exports of surfaces with programs that others wrote, for check_surfaces.py. As a script, it reads one with Blender.

A reader takes the path of an export, numbers of frames and names of the bodies that have surfaces, and gives a dictionary per
frame: `surfaces` by name of the body, `particles` by name of the body or in one array, and the `time`, where the program says it.

A surface is a dictionary, too: `sizes` of its faces, `corners` (vertices, face after face), `points` and `velocities` of the
vertices, `box`, `normals` and `uvs` of the corners, and `groups`, faces by name. Readers that make points of their own of corners
leave out `corners`; what they say of points is then that of corners. `vertex_normals` in place of `normals` are the means at
vertices, spread to corners.
"""

import pathlib
import sys

import numpy as np

from checking import answer, box_of, vectors


def read_usd(path, numbers, bodies):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (numbers[0], numbers[-1]), "range of frames"
    # the materials of groups have no geometry
    prims = [prim for prim in stage.GetDefaultPrim().GetChildren() if not prim.IsA(UsdGeom.Scope)]
    meshes = {prim.GetCustomDataByKey("name"): UsdGeom.Mesh(prim) for prim in prims if prim.IsA(UsdGeom.Mesh)}
    clouds = {prim.GetCustomDataByKey("name"): UsdGeom.Points(prim) for prim in prims if prim.IsA(UsdGeom.Points)}
    assert len(meshes) + len(clouds) == len(prims) and list(meshes) == bodies, "prims"
    is_valid = not problems_of(stage)
    for code in numbers:
        yield {
            "surfaces": {name: usd_mesh(mesh, code) for name, mesh in meshes.items()},
            "particles": {name: np.array(cloud.GetPointsAttr().Get(code)) for name, cloud in clouds.items()},
            "time": code / stage.GetTimeCodesPerSecond(),
            "is_valid": is_valid,
        }


def problems_of(stage):
    """What USD's own validators (those of `usdchecker`) find wrong."""
    from pxr import UsdValidation

    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    problems = [f"{error.GetName()}: {error.GetMessage()}" for error in errors]
    for problem in problems:
        print(f"USD's validators: {problem}")
    return problems


def usd_mesh(mesh, code):
    from pxr import UsdGeom

    points, corners = mesh.GetPointsAttr().Get(code), mesh.GetFaceVertexIndicesAttr().Get(code)
    sizes = mesh.GetFaceVertexCountsAttr().Get(code)
    is_sound, why = UsdGeom.Mesh.ValidateTopology(corners, sizes, len(points))
    assert is_sound, why
    extent = np.array(mesh.GetExtentAttr().Get(code))
    assert np.array_equal(extent, UsdGeom.PointBased.ComputeExtent(points)), "extent"
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none" and mesh.GetOrientationAttr().Get() == "rightHanded"
    corners, normals = np.array(corners), np.array(mesh.GetNormalsAttr().Get(code))
    found = {
        "sizes": sizes,
        "corners": corners,
        "points": points,
        "velocities": mesh.GetVelocitiesAttr().Get(code),
        "box": extent,
        "normals": normals[corners] if mesh.GetNormalsInterpolation() == "vertex" else normals,
        "groups": {},
    }
    uvs = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    if uvs.HasValue():
        assert uvs.GetInterpolation() == "faceVarying" and uvs.GetTypeName() == "texCoord2f[]", "primvars:st"
        found["uvs"] = uvs.Get(code)
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        assert subset.GetElementTypeAttr().Get() == "face", "GeomSubset"
        found["groups"][subset.GetPrim().GetCustomDataByKey("name")] = subset.GetIndicesAttr().Get(code)
    return found


def read_vtp(path, numbers, bodies):
    import pyvista

    reader = pyvista.get_reader(path / f"{path.name}.pvd")
    assert len(reader.time_values) == len(numbers), "times"
    for time in reader.time_values:
        reader.set_active_time_value(time)
        parts = list(reader.read())
        surfaces = [part for part in parts if part.n_verts == 0]
        clouds = [part for part in parts if part.n_verts > 0]
        assert all(part.field_data["TimeValue"][0] == time for part in parts), "TimeValue"
        particles = np.concatenate([np.zeros((0, 3), np.float32), *(cloud.points for cloud in clouds)])
        found = [vtk_surface(part) for part in surfaces]
        yield {"surfaces": dict(zip(bodies, found, strict=True)), "particles": particles, "time": time}


def vtk_surface(mesh):
    """A surface with all that VTK has of it. Points that are a corner each know their vertex."""
    at, data = mesh.GetPolys(), mesh.point_data
    offsets, places = vtk_array(at.GetOffsetsArray()), vtk_array(at.GetConnectivityArray())
    found = {"sizes": np.diff(offsets), "points": mesh.points, "box": np.reshape(mesh.bounds, (3, 2)).T}
    found["corners"] = places
    if "velocity" in data:
        assert data.active_vectors_name == "velocity", "active vectors"
        found["velocities"] = data["velocity"]
    if "vertex" in data:
        vertex = np.array(data["vertex"])
        first = np.unique(vertex, return_index=True)[1]
        for key in ("points", "velocities"):
            assert np.array_equal(found[key], found[key][first][vertex]), "points of one vertex"
            found[key] = found[key][first]
        found["corners"] = vertex[places]
    if data.active_normals is not None:
        found["normals"] = data.active_normals[places]
    if data.active_texture_coordinates is not None:
        found["uvs"] = data.active_texture_coordinates[places]
    if "group" in mesh.cell_data:
        groups = enumerate(mesh.field_data["group_names"])
        found["groups"] = {name: np.flatnonzero(mesh.cell_data["group"] == group) for group, name in groups}
    return found


def vtk_array(array):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(array)


def by_corner(mesh):
    """A surface whose points VTK's reader multiplied at seams."""
    found = vtk_surface(mesh)
    return found | {"points": mesh.points[found.pop("corners")]}


def read_vtk_ply(path, numbers, bodies):
    import pyvista

    for number in numbers:
        surfaces = {}
        for name in bodies:
            found = by_corner(pyvista.read(path / f"{path.name}_surface_{name}_{number:04}.ply"))
            found["vertex_normals"] = found.pop("normals")
            surfaces[name] = found
        cloud = path / f"{path.name}_{number:04}.ply"
        yield {"surfaces": surfaces, "particles": pyvista.read(cloud).points if cloud.exists() else {}}


def read_vtk_obj(path, numbers, bodies):
    """All surfaces of a file in one. VTK numbers groups anew at every line that begins one."""
    import pyvista

    for number in numbers:
        mesh = pyvista.read(path / f"{path.name}_{number:04}.obj")
        found = by_corner(mesh)
        found["group_runs"] = mesh.cell_data["GroupIds"]
        yield {"surfaces": {None: found}}


def meshio_faces(mesh):
    """Sizes and corners of the faces: meshio has a block of cells for each run of faces of one size."""
    sizes = [np.full(len(block.data), block.data.shape[1]) for block in mesh.cells]
    return {"sizes": np.concatenate(sizes), "corners": np.concatenate([block.data.ravel() for block in mesh.cells])}


def read_meshio_ply(path, numbers, bodies):
    import meshio

    for number in numbers:
        surfaces = {}
        for name in bodies:
            mesh = meshio.read(path / f"{path.name}_surface_{name}_{number:04}.ply")
            found = meshio_faces(mesh) | {"points": mesh.points, "velocities": vectors(mesh.point_data, "v")}
            found["vertex_normals"] = vectors(mesh.point_data, "n")[found["corners"]]
            surfaces[name] = found
        cloud = path / f"{path.name}_{number:04}.ply"
        yield {"surfaces": surfaces, "particles": meshio.read(cloud).points if cloud.exists() else {}}


def read_meshio_obj(path, numbers, bodies):
    import meshio

    for number in numbers:
        mesh = meshio.read(path / f"{path.name}_{number:04}.obj")
        found = meshio_faces(mesh) | {"points": mesh.points}
        found["normals"] = mesh.point_data["obj:vn"][found["corners"]]
        yield {"surfaces": {None: found}}


def in_blender(kind, path, numbers, bodies):
    """Imports an export in Blender and gives what is there in some frames. Vectors are turned as the objects are."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, stem = bpy.context.scene, pathlib.Path(path).name
    if kind == "usd":
        bpy.ops.wm.usd_import(filepath=path)
        assert scene.frame_start <= numbers[0] and scene.frame_end == numbers[-1], "range of frames"
    for number in numbers:
        if kind == "usd":
            scene.frame_set(number)
            names = {f"{name}_surface": name for name in bodies}
        else:
            bpy.ops.wm.read_factory_settings(use_empty=True)
        if kind == "obj":
            bpy.ops.wm.obj_import(filepath=f"{path}/{stem}_{number:04}.obj", import_vertex_groups=True)
            names = {f"{name}_surface": name for name in bodies}
        if kind == "ply":
            names = {f"{stem}_surface_{name}_{number:04}": name for name in bodies}
            files = [pathlib.Path(path) / f"{name}.ply" for name in [f"{stem}_{number:04}", *names]]
            for file in filter(pathlib.Path.exists, files):
                bpy.ops.wm.ply_import(filepath=str(file))
        graph = bpy.context.evaluated_depsgraph_get()
        found = {"surfaces": {}, "particles": {}}
        for thing in bpy.context.scene.objects:
            evaluated = thing.evaluated_get(graph)
            if thing.name in names:
                found["surfaces"][names[thing.name]] = blender_mesh(thing, evaluated)
            elif thing.type in ("MESH", "POINTCLOUD"):
                turn = np.array(evaluated.matrix_world)[:3, :3]
                found["particles"][thing.name] = blender_array(evaluated.data.attributes["position"]) @ turn.T
        if kind == "ply":
            found["particles"] = next(iter(found["particles"].values()), {})
        if kind == "obj":
            assert not found.pop("particles"), "particles beside faces in an OBJ"
        yield found


def blender_array(attribute):
    fields = {"FLOAT_VECTOR": ("vector", 3), "FLOAT2": ("vector", 2)}
    field, width = fields.get(attribute.data_type, ("value", 1))
    values = np.zeros(width * len(attribute.data), np.int32 if attribute.data_type == "INT" else np.float32)
    attribute.data.foreach_get(field, values)
    return values.reshape(-1, width) if width > 1 else values


def blender_mesh(thing, evaluated):
    mesh, pose = evaluated.data, np.array(evaluated.matrix_world)
    assert not pose[:3, 3].any(), "an object is moved"
    turned = lambda vectors: np.asarray(vectors) @ pose[:3, :3].T
    read = lambda name: blender_array(mesh.attributes[name])
    sizes, normals = np.zeros(len(mesh.polygons), np.int32), np.zeros(3 * len(mesh.loops), np.float32)
    mesh.polygons.foreach_get("loop_total", sizes)
    mesh.corner_normals.foreach_get("vector", normals)
    found = {"sizes": sizes, "corners": read(".corner_vert"), "points": turned(read("position"))}
    found |= {"box": box_of(turned(evaluated.bound_box)), "normals": turned(normals.reshape(-1, 3))}
    if "velocity" in mesh.attributes:
        found["velocities"] = turned(read("velocity"))
    if "vx" in mesh.attributes:
        found["velocities"] = turned(np.stack([read("v" + axis) for axis in "xyz"], axis=1))
        found["vertex_normals"] = found.pop("normals")
    for layer in mesh.uv_layers:
        assert layer.name in ("st", "UVMap"), "name of a UV layer"
        found["uvs"] = read(layer.name)
    if "material_index" in mesh.attributes:
        owners = read("material_index")
        found["groups"] = {slot.name: np.flatnonzero(owners == k) for k, slot in enumerate(mesh.materials)}
    names = {group.index: group.name for group in thing.vertex_groups}
    members = [(member.group, vertex.index) for vertex in mesh.vertices for member in vertex.groups]
    if names:
        found["vertices_of_groups"] = {name: [v for g, v in members if g == group] for group, name in names.items()}
    return found


if __name__ == "__main__":
    import bpy

    kind, path, numbers, bodies = sys.argv[1:]
    numbers = [int(number) for number in numbers.split(",")]
    frames = list(in_blender(kind, path, numbers, bodies.split(",")))
    answer({"version": bpy.app.version_string, "frames": frames})
