//! Tests of a body's own mesh, from the file to the surface in every frame: exact under rotation and strain, intact
//! after plastic flow.

use phyxel::math::{Mat3, Quat, Real, Vec3, vec3};
use phyxel::methods::built_methods;
use phyxel::world::World;
use phyxel_io::results::SurfaceTable;
use phyxel_io::scene::{ParseOptions, SceneFile, WorldOptions};
use phyxel_io::surface::SurfaceMesh;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::path::PathBuf;

/// Returns the OBJ text of a ball with bumps, and the texture coordinates of its corners: quadrangles with a texture
/// seam, triangles at the poles, two groups.
fn bumpy_ball(n_around: usize, n_down: usize) -> (String, Vec<[f32; 2]>) {
    let point = |i: usize, j: usize| {
        let (around, down) = (TAU * i as Real / n_around as Real, PI * j as Real / n_down as Real);
        let r = 0.3 * (1.0 + 0.12 * (5.0 * around).sin() * down.sin().powi(2) * (3.0 * down).sin());
        vec3(r * down.sin() * around.cos(), r * down.cos(), -r * down.sin() * around.sin())
    };
    let mut text = String::new();
    let mut vertices = vec![point(0, 0)];
    vertices.extend((1..n_down).flat_map(|j| (0..n_around).map(move |i| point(i, j))));
    vertices.push(point(0, n_down));
    vertices.iter().for_each(|v| writeln!(text, "v {:?} {:?} {:?}", v.x, v.y, v.z).unwrap());
    let mut uvs = Vec::new();
    for j in 0..=n_down {
        for i in 0..=n_around {
            uvs.push([i as f32 / n_around as f32, 1.0 - j as f32 / n_down as f32]);
        }
    }
    uvs.iter().for_each(|uv| writeln!(text, "vt {:?} {:?}", uv[0], uv[1]).unwrap());
    let vertex = |i: usize, j: usize| match j {
        0 => 1,
        j if j == n_down => vertices.len(),
        j => 2 + (j - 1) * n_around + i % n_around,
    };
    let uv = |i: usize, j: usize| 1 + j * (n_around + 1) + i;
    let mut corner_uvs = Vec::new();
    for j in 0..n_down {
        writeln!(text, "g {}", if 2 * j < n_down { "top" } else { "bottom" }).unwrap();
        for i in 0..n_around {
            let mut corners = vec![(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)];
            if j == 0 {
                corners.pop();
            } else if j == n_down - 1 {
                corners.remove(2);
            }
            text.push('f');
            for (i, j) in corners {
                write!(text, " {}/{}", vertex(i, j), uv(i, j)).unwrap();
                corner_uvs.push(uvs[uv(i, j) - 1]);
            }
            text.push('\n');
        }
    }
    (text, corner_uvs)
}

struct Case {
    folder: PathBuf,
    world: World,
    mesh: SurfaceMesh,
    uvs: Vec<[f32; 2]>,
}

impl Case {
    fn new(name: &str, scene: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("phyxel_surface_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (text, uvs) = bumpy_ball(64, 32);
        std::fs::write(folder.join("ball.obj"), text).unwrap();
        let methods: Vec<(&str, bool)> = built_methods().map(|entry| (entry.key, true)).collect();
        let options = ParseOptions { methods: &methods, columns: None };
        let file = SceneFile::parse_bytes(scene.as_bytes(), "scene.toml", &options).unwrap();
        let built = file.build(&folder, &WorldOptions::default()).unwrap();
        let (world, mesh) = (built.world, built.surfaces.into_iter().next().flatten().unwrap());
        Self { folder, world, mesh, uvs }
    }

    fn points(&self) -> Vec<Vec3> {
        self.world.carried_points(0).unwrap()
    }

    fn table(&self) -> SurfaceTable {
        self.mesh.at(self.world.time(), &self.points(), &self.world.carried_velocities(0).unwrap())
    }

    /// Moves the particles by a map and returns the largest distance of the vertices from their mapped positions, as a
    /// fraction of the size.
    fn error_of(&mut self, map: impl Fn(Vec3) -> Vec3) -> Real {
        let before = self.points();
        self.world.edit_particles(|p| p.position.iter_mut().for_each(|x| *x = map(*x)));
        let errors = self.points().into_iter().zip(before).map(|(y, x)| y.distance(map(x)));
        errors.fold(0.0, Real::max) / 0.6
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn scene(method: &str, rest: &str) -> String {
    format!(
        "method = \"{method}\"\nduration = 1\n\
         [materials.clay]\ndensity = 1600\nyoungs_modulus = 2e5\npoisson_ratio = 0.35\nviscosity = 30\n{rest}\n\
         surface = {{ kind = \"mesh\", uvs = true }}\n"
    )
}

const AT_REST: &str = "[[bodies]]\nname = \"ball\"\nmaterial = \"clay\"\nshape.mesh = { file = \"ball.obj\" }\n\
    position = [0.1, 0.42, 0]\nscale = 1.5\nrotation = { axis = [0, 0, 1], angle = 0.3 }\nspacing = 0.05";

#[test]
fn turns_and_strains_are_exact_in_every_method() {
    for method in built_methods().map(|entry| entry.key) {
        let mut case = Case::new(&format!("exact_{method}"), &scene(method, AT_REST));
        assert_eq!(case.points().len(), 2 + 31 * 64);
        let start = case.mesh.vertices().to_vec();
        let drift = case.points().iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, Real::max);
        let quarter = Quat::from_axis_angle(vec3(1.0, -2.0, 0.5).normalize(), 0.5 * PI);
        let turn = case.error_of(|x| quarter * x + vec3(3.0, 0.0, 1.0));
        let strain = Mat3::from_cols(vec3(1.8, 0.1, 0.0), vec3(-0.2, 0.7, 0.1), vec3(0.3, 0.0, 1.1));
        let strain = case.error_of(|x| strain * x);
        println!(
            "{method}: bound within {drift:.1e} m; quarter turn {turn:.1e}, affine strain {strain:.1e} of the size"
        );
        assert!(drift < 1e-13 && turn < 1e-9 && strain < 1e-9);
        assert_eq!(case.table().uvs, case.uvs);
        assert_eq!(case.table().group_names, ["top", "bottom"]);
    }
}

/// Returns the number of inverted triangles, which face away from the triangles around them, and of all examined ones.
fn inverted(table: &SurfaceTable, is_looked_at: impl Fn([f32; 3]) -> bool) -> (usize, usize) {
    let place = |k: u32| table.position[k as usize];
    let normal = |&[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [a, b, c].map(|k| place(k).map(f64::from)).map(|[x, y, z]| vec3(x, y, z));
        (b - a).cross(c - a)
    };
    let triangles = table.triangles();
    let mut around = vec![Vec3::ZERO; table.position.len()];
    for t in &triangles {
        t.iter().for_each(|&k| around[k as usize] += normal(t));
    }
    let looked_at: Vec<&[u32; 3]> =
        triangles.iter().filter(|t| t.iter().all(|&k| is_looked_at(place(k)))).collect();
    let is_bad = |t: &&&[u32; 3]| {
        let others: Vec3 = t.iter().map(|&k| around[k as usize] - normal(t)).sum();
        normal(t).dot(others) < 0.0
    };
    (looked_at.iter().filter(is_bad).count(), looked_at.len())
}

/// Checks that no triangle outside the contact zone is inverted after a drop so hard that the ball flows and stays
/// flat.
#[test]
fn a_plastic_drop_leaves_no_triangle_inverted() {
    let least_flow = 0.9;
    for method in built_methods().filter(|entry| !entry.abilities.flows.is_empty()).map(|entry| entry.key) {
        let drop = "plasticity = { yield_stress = 2000, flow_rate = 100 }\n\
            [[obstacles]]\nshape.half_space = { normal = [0, 1, 0] }\nfriction = 0.6\n\
            [[bodies]]\nname = \"ball\"\nmaterial = \"clay\"\nshape.mesh = { file = \"ball.obj\" }\n\
            position = [0, 0.34, 0]\nspacing = 0.035\nsampling = \"jittered\"\nvelocity = [0, -3, 0]";
        let mut case = Case::new(&format!("drop_{method}"), &scene(method, drop));
        let height = |case: &Case| case.points().iter().map(|x| x.y).fold(0.0, Real::max);
        let before = height(&case);
        for frame in 1..=24 {
            case.world.advance_to(frame as Real / 60.0).unwrap();
        }
        let table = case.table();
        let (n_inverted, n) = inverted(&table, |x| x[1] > 0.05);
        println!(
            "{method}: height {before:.3} to {:.3} m, {n_inverted} of {n} triangles inverted",
            height(&case)
        );
        assert!(height(&case) < least_flow * before);
        assert!(n > 2000 && n_inverted == 0, "{n_inverted} of {n}");
        assert_eq!(table.uvs, case.uvs);
    }
}
