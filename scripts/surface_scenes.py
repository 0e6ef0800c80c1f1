"""Scenes with surfaces, and the mesh that one of them carries, for check_surfaces.py."""

import numpy as np

SCENE = """
title = "A ball and a pebble, dropped"
method = "embedded"
duration = "0.4 s"
frame_rate = 30

[materials.clay]
density = 1000
youngs_modulus = "0.1 MPa"
poisson_ratio = 0.3
viscosity = "16 Pa.s"
plasticity = {{ yield_stress = "200 Pa", flow_rate = 400 }}

[[bodies]]
name = "pebble"
material = "clay"
shape.ellipsoid = {{ radii = [0.1, 0.06, 0.08] }}
position = [0.6, 0.2, 0]
rotation = {{ axis = [0, 0, 1], angle = "20 deg" }}
spacing = "3 cm"
sampling = "jittered"
{pebble}

[[bodies]]
name = "ball"
material = "clay"
shape.mesh = {{ file = "ball.obj" }}
position = {place}
spacing = "4 cm"
sampling = "jittered"
velocity = [0.5, -3, 0.25]
{ball}

[[obstacles]]
name = "floor"
shape.half_space = {{ normal = [0, 1, 0] }}
friction = 0.5

[output]
columns = ["velocity", "stress"]
"""
"""The pebble comes first: then the ball's vertices have other numbers in an OBJ than in the result."""

SURFACES = {
    "mesh": {"ball": 'surface = { kind = "mesh", uvs = true }', "pebble": ""},
    "skin": {"ball": 'surface = { kind = "skin" }', "pebble": 'surface = { kind = "mesh" }'},
}
"""What the bodies have in each scene: the ball's own mesh beside particles, and a skin, whose vertices and faces are others in
every frame, beside the triangles of an ellipsoid."""

PLACE = [0.0, 0.25, 0.125]
"""Where the ball is put."""


def write_scene(folder, name):
    """Writes a scene and its mesh; gives the path of the scene, and the mesh."""
    ball, path = Ball(), folder / f"{name}.toml"
    ball.write(folder / "ball.obj")
    path.write_text(SCENE.format(place=PLACE, **SURFACES[name]))
    return path, ball


class Ball:
    """A closed ball of triangles around the north pole and in one ring, quads, and one polygon that cuts off the south. Longitude
    and latitude are its texture coordinates, with a seam where the longitude begins anew; normals are those of the ball, and sharp
    at the cut; groups are its halves."""

    group_names = ["upper half", "lower half"]

    def __init__(self, n_around=24, n_rings=10, radius=0.2):
        around = 2 * np.pi * np.arange(n_around) / n_around
        heights = np.pi * np.arange(1, n_rings + 1) / (n_rings + 1)
        circle = np.stack([np.cos(around), np.zeros(n_around), -np.sin(around)], axis=1)
        rings = [np.sin(h) * circle + [0, np.cos(h), 0] for h in heights]
        sphere = np.concatenate([[[0, 1, 0]], *rings])
        self.points = (radius * sphere).astype(np.float32)
        faces, uvs, normals, self.face_groups = [], [], [], []
        vertex = lambda ring, k: 1 + ring * n_around + k % n_around
        uv = lambda ring, k: [k / n_around, 1 - (ring + 1) / (n_rings + 1)]

        def add(face, face_uvs, face_normals, ring):
            faces.append(face)
            uvs.extend(face_uvs)
            normals.extend(face_normals)
            self.face_groups.append(int(2 * ring >= n_rings))

        for k in range(n_around):
            face = [0, vertex(0, k), vertex(0, k + 1)]
            add(face, [[(k + 0.5) / n_around, 1], uv(0, k), uv(0, k + 1)], sphere[face], 0)
            for ring in range(n_rings - 1):
                below, above = ring + 1, ring
                face = [vertex(above, k), vertex(below, k), vertex(below, k + 1), vertex(above, k + 1)]
                face_uvs = [uv(above, k), uv(below, k), uv(below, k + 1), uv(above, k + 1)]
                parts = [[0, 1, 2], [0, 2, 3]] if ring == 1 else [[0, 1, 2, 3]]
                for part in parts:
                    corners = [face[c] for c in part]
                    add(corners, [face_uvs[c] for c in part], sphere[corners], ring)
        south = [vertex(n_rings - 1, -k) for k in range(n_around)]
        flat = 0.5 + 0.25 * circle[:, [0, 2]]
        add(south, flat[-np.arange(n_around)], [[0, -1, 0]] * n_around, n_rings)
        self.sizes = np.array([len(face) for face in faces])
        self.corners = np.concatenate(faces)
        self.uvs, self.normals = np.array(uvs, np.float32), np.array(normals, np.float32)
        self.face_groups = np.array(self.face_groups)

    def write(self, path):
        lines = []
        for key, rows in [("v", self.points), ("vt", self.uvs), ("vn", self.normals)]:
            lines += [f"{key} " + " ".join(map(str, row)) for row in rows]
        group = None
        for face, end in enumerate(np.cumsum(self.sizes)):
            if self.face_groups[face] != group:
                group = self.face_groups[face]
                lines.append(f"g {self.group_names[group]}")
            corners = range(end - self.sizes[face], end)
            lines.append("f " + " ".join(f"{self.corners[c] + 1}/{c + 1}/{c + 1}" for c in corners))
        path.write_text("\n".join(lines) + "\n")
