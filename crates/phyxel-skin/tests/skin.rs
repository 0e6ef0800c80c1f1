//! Tests that a skin is closed, has the right volume, encloses the particles, and has the same bits every time.

mod bodies;

use bodies::{Defects, Particles, catalogue, defects, volume};
use phyxel::geometry::{Sampling, Shape, Spacing, TriangleMesh};
use phyxel::math::{Real, Vec3, vec3};
use phyxel_skin::{Matter, Skin, SkinError, SkinParams, skin};

fn skin_of(body: &Particles) -> Skin {
    skin(&body.matter(), &SkinParams::default()).unwrap()
}

/// Returns the engine's mesh, which has winding numbers and distances of its own.
fn mesh_of(skin: &Skin) -> TriangleMesh {
    let vertices = skin.vertices.iter().map(|v| Vec3::from_array(v.map(Real::from))).collect();
    TriangleMesh::try_new(vertices, skin.triangles.clone()).unwrap()
}

/// The bodies are lattices, jittered, relaxed, graded, flattened, pulled and squeezed bodies, a sheet and a ring.
#[test]
fn every_body_gets_a_closed_skin_of_its_volume_with_outward_normals() {
    for (name, body) in catalogue() {
        let skin = skin_of(&body);
        assert_eq!(defects(&skin), Defects::default(), "{name}");
        let ratio = volume(&skin) / body.volume;
        assert!((ratio - 1.0).abs() < 0.01, "{name}: volume {ratio}");
        assert!((skin.volume / volume(&skin) - 1.0).abs() < 1e-4, "{name}: it says {}", skin.volume);
        assert!(skin.offset.abs() < 0.5, "{name}: moved by {} radii", skin.offset);
        for (k, normal) in skin.normals.iter().enumerate() {
            let length = Vec3::from_array(normal.map(Real::from)).length();
            assert!((length - 1.0).abs() < 1e-5, "{name}: normal {k} has the length {length}");
        }
    }
}

/// Without a target volume, the density's own surface is right within 3 % if particles are at their spacing.
#[test]
fn the_volume_is_right_without_being_told() {
    for (name, body) in catalogue() {
        let at_rest = !["shaken", "flattened"].iter().any(|word| name.contains(word));
        let skin =
            phyxel_skin::skin(&Matter { volume: None, ..body.matter() }, &SkinParams::default()).unwrap();
        let ratio = volume(&skin) / body.volume;
        let tolerance = if at_rest { 0.03 } else { 0.05 };
        assert!((ratio - 1.0).abs() < tolerance, "{name}: volume {ratio}");
    }
}

#[test]
fn every_particle_is_inside_and_the_surface_is_half_a_spacing_away() {
    let body = Particles::of(Shape::Sphere { radius: 1.0 }, Spacing::Uniform(0.1), Sampling::Relaxed);
    let skin = skin_of(&body);
    let mesh = mesh_of(&skin);
    assert!(mesh.is_closed() && mesh.signed_volume() > 0.0);
    for x in &body.positions {
        let x = Vec3::from_array(x.map(Real::from));
        assert!(mesh.winding_number(x) > 0.99, "{x} is outside");
    }
    for (vertex, normal) in skin.vertices.iter().zip(&skin.normals) {
        let (x, n) = (Vec3::from_array(vertex.map(Real::from)), Vec3::from_array(normal.map(Real::from)));
        // tolerances: a tenth of the spacing; 10 degrees
        assert!((x.length() - 1.0).abs() < 0.01, "{x}: {}", x.length());
        assert!(n.dot(x.normalize()) > 0.985, "{x}: normal {n}");
    }
    // a ball has one piece without holes: V − T/2 = 2
    assert_eq!(skin.vertices.len(), skin.triangles.len() / 2 + 2);
}

/// Returns the distance (m) of the skin behind the edges at the end x = ±1.5 of a bar of 3 m × 1.5 m × 1.5 m.
fn rounding(skin: &Skin, end: Real) -> Real {
    let beyond = |v: &[f32; 3]| {
        let [x, y, z] = v.map(Real::from);
        let is_inner = z.abs() < 0.4;
        is_inner.then(|| (x * end - 1.5 + y.abs() - 0.75) / Real::sqrt(2.0))
    };
    -skin.vertices.iter().filter_map(beyond).fold(Real::NEG_INFINITY, Real::max)
}

/// Returns the distances of the skin of such a bar from its faces, away from their edges: for the long sides with their
/// x, and for the end x = ±1.5 (m).
fn unevenness(skin: &Skin, end: Real) -> (Vec<(Real, Real)>, Vec<Real>) {
    let (mut sides, mut ends) = (Vec::new(), Vec::new());
    for [x, y, z] in skin.vertices.iter().map(|v| v.map(Real::from)) {
        for (side, other) in [(y.abs(), z.abs()), (z.abs(), y.abs())] {
            if side > 0.6 && other < 0.4 && x.abs() < 1.2 {
                sides.push((x, side - 0.75));
            }
        }
        if y.abs() < 0.4 && z.abs() < 0.4 && x * end > 1.2 {
            ends.push(x * end - 1.5);
        }
    }
    (sides, ends)
}

/// Function that returns the spacing at x (m).
type SpacingAt<'a> = &'a dyn Fn(Real) -> Real;

/// With one radius for the whole body, the coarse end would get holes and lumps, and the fine end would be too round.
#[test]
fn each_part_of_an_uneven_body_is_as_good_as_an_even_one() {
    // `flat` is the distance from the faces in local spacings: jitter moves particles by more than a tenth of a spacing
    for (sampling, flat) in [(Sampling::Relaxed, 0.15), (Sampling::Lattice, 0.15), (Sampling::Jittered, 0.27)]
    {
        for (fine, coarse) in [(0.06, 0.12), (0.05, 0.15)] {
            let even = skin_of(&Particles::graded(fine, fine, sampling));
            let gradual = |x: Real| fine + (coarse - fine) * (x + 1.5) / 3.0;
            // the coarse particles reach a little into the fine half
            let jump = |x: Real| if x < -coarse { fine } else { coarse };
            let (graded, abrupt) =
                (Particles::graded(fine, coarse, sampling), Particles::abrupt(fine, coarse, sampling));
            let bodies: [(&str, &Particles, SpacingAt<'_>); 2] =
                [("graded", &graded, &gradual), ("abrupt", &abrupt, &jump)];
            for (name, body, spacing) in bodies {
                let name = format!("{name} from {fine} to {coarse}, {sampling:?}");
                let skin = skin_of(body);
                assert_eq!(defects(&skin), Defects::default(), "{name}");
                assert_eq!(
                    skin.vertices.len(),
                    skin.triangles.len() / 2 + 2,
                    "{name}: one piece without holes"
                );
                let (here, there) = (rounding(&skin, -1.0), rounding(&even, -1.0));
                // tolerance of a fifth of a spacing for the position of the lattice
                assert!(here < there + 0.2 * fine, "{name}: rounded by {here}, even bodies by {there}");
                let (sides, ends) = unevenness(&skin, 1.0);
                let side = sides.iter().map(|(x, off)| off.abs() / spacing(*x)).fold(0.0, Real::max);
                let end = ends.iter().map(|off| off.abs() / coarse).fold(0.0, Real::max);
                assert!(side < flat && end < flat, "{name}: off by {side} and {end} spacings");
            }
        }
    }
}

/// Bodies that have lost particles in one half: the surface goes to a lower density instead of being moved out. At the
/// density 0.6 the skins are moved by up to 0.27 radii. This says nothing about holes: of these bodies, one has fewer
/// at the lower density and three have more.
#[test]
fn loose_matter_is_enclosed_at_a_lower_density() {
    for (far, every) in [(0.02, 4), (0.03, 4), (0.03, 5), (0.03, 6), (0.035, 8), (0.02, 3), (0.01, 3)] {
        let name = format!("shaken by {far}, one in {every} lost");
        let shaken = Particles::cube(16, Sampling::Lattice).shaken(far);
        let is_lost = |i: usize| (i * 7 + i / 16).is_multiple_of(every) && shaken.positions[i][0] <= 0.0;
        let kept: Vec<usize> = (0..shaken.positions.len()).filter(|&i| !is_lost(i)).collect();
        let loose = Particles {
            positions: kept.iter().map(|&i| shaken.positions[i]).collect(),
            radii: kept.iter().map(|&i| shaken.radii[i]).collect(),
            volume: shaken.volume,
        };
        let skin = skin_of(&loose);
        assert_eq!(defects(&skin), Defects::default(), "{name}");
        assert!((skin.volume / loose.volume - 1.0).abs() < 0.003, "{name}: volume {}", skin.volume);
        assert!(skin.offset < 0.2, "{name}: moved by {} radii", skin.offset);
    }
}

#[test]
fn velocities_and_strays_go_by_local_radii() {
    let mut body = Particles::abrupt(0.05, 0.15, Sampling::Lattice);
    let n = body.positions.len();
    // four coarse particles at their spacing from the coarse end are part of it, four fine ones are strays
    let row = |x: f32, gap: f32| (0..4).map(move |k| [x, gap * (k as f32 - 1.5), 0.0]);
    body.positions.extend(row(1.575, 0.15).chain(row(-1.7, 0.05)));
    body.radii.extend([0.075, 0.075, 0.075, 0.075, 0.025, 0.025, 0.025, 0.025]);
    let velocities: Vec<[f32; 3]> = body.positions.iter().map(|p| [p[0].signum(), 0.0, 0.0]).collect();
    let skin = skin(&Matter { velocities: &velocities, ..body.matter() }, &SkinParams::default()).unwrap();
    assert_eq!((skin.n_strays, n), (4, 28_000));
    assert!(skin.vertices.iter().any(|v| v[0] > 1.6), "the row of coarse particles is there");
    for (x, v) in skin.vertices.iter().zip(&skin.velocities) {
        // a coarse particle counts up to four of its radii from it, into the fine half too
        if !(-0.3..0.15).contains(&x[0]) {
            assert!((v[0] - x[0].signum()).abs() < 1e-6, "{x:?} {v:?}");
        }
    }
}

#[test]
fn smoothing_makes_faces_even() {
    let body = Particles::cube(16, Sampling::Jittered);
    let roughness = |smoothing: usize| {
        let skin = skin(&body.matter(), &SkinParams { smoothing, ..SkinParams::default() }).unwrap();
        let heights: Vec<Real> = skin
            .vertices
            .iter()
            .filter(|v| v[0].abs() < 0.5 && v[2].abs() < 0.5 && v[1] > 0.6)
            .map(|v| Real::from(v[1]))
            .collect();
        let mean = heights.iter().sum::<Real>() / heights.len() as Real;
        // the face is at 0.8, the spacing is 0.1
        assert!((mean - 0.8).abs() < 0.01, "{smoothing} passes: the face is at {mean}");
        (heights.iter().map(|y| (y - mean).powi(2)).sum::<Real>() / heights.len() as Real).sqrt()
    };
    let (raw, smooth) = (roughness(0), roughness(25));
    assert!(smooth < 0.6 * raw && smooth < 0.007, "from {raw} to {smooth}");
}

#[test]
fn the_same_particles_give_the_same_bits_with_any_number_of_threads() {
    let mut body =
        Particles::of(Shape::Box { size: vec3(3.0, 2.0, 2.0) }, Spacing::Uniform(0.1), Sampling::Jittered);
    // a lattice that lies exactly on cells puts several vertices at the same position
    let lattice = Particles::cube(12, Sampling::Lattice);
    body.positions.extend(lattice.positions.iter().map(|p| [p[0] + 10.0, p[1], p[2]]));
    body.radii.extend(&lattice.radii);
    body.volume += lattice.volume;
    let velocities: Vec<[f32; 3]> = body.positions.iter().map(|p| [p[1], -p[0], 0.3]).collect();
    let matter = Matter { velocities: &velocities, ..body.matter() };
    let of = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| skin(&matter, &SkinParams { cell: 0.5, ..SkinParams::default() }).unwrap())
    };
    let first = of(1);
    for n_threads in [2, 3, 3, 2, 1, 7] {
        // compares everything: positions, normals, velocities, triangles and their order
        assert!(of(n_threads) == first, "{n_threads} threads");
    }
}

#[test]
fn cells_stay_where_they_are_when_the_body_moves_by_whole_cells() {
    // otherwise the pattern of triangles would move over the body from frame to frame
    let mut body = Particles::cube(10, Sampling::Relaxed);
    // positions that stay exact when they are moved by 4 m
    body.positions.iter_mut().flatten().for_each(|x| *x = (*x * 1024.0).round() / 1024.0);
    // cells of 1/16 m
    let params = SkinParams { radius: Some(0.0625), cell: 1.0 / 1.75, ..SkinParams::default() };
    let here = skin(&body.matter(), &params).unwrap();
    let moved =
        Particles { positions: body.positions.iter().map(|p| [p[0] + 4.0, p[1], p[2]]).collect(), ..body };
    let there = skin(&moved.matter(), &params).unwrap();
    assert!(there.triangles == here.triangles);
    for (a, b) in here.vertices.iter().zip(&there.vertices) {
        assert!((a[0] + 4.0 - b[0]).abs() < 1e-5 && (a[1] - b[1]).abs() < 1e-5, "{a:?} {b:?}");
    }
}

#[test]
fn strays_are_left_out_and_drops_of_five_are_not() {
    let mut body = Particles::cube(8, Sampling::Relaxed);
    let n = body.positions.len();
    let alone = skin_of(&body);
    let drop = |count: usize, at: f32| (0..count).map(move |k| [at + 0.08 * k as f32, 3.0, 0.0]);
    body.positions.extend(drop(4, 5.0).chain(drop(1, -7.0)));
    body.radii.resize(n + 5, 0.05);
    body.volume *= (n + 5) as Real / n as Real;
    let with_strays = skin_of(&body);
    assert_eq!(with_strays.n_strays, 5);
    assert_eq!(with_strays.vertices, alone.vertices, "strays leave no trace");
    body.positions.extend(drop(5, 10.0));
    body.radii.resize(n + 10, 0.05);
    let with_drop = skin_of(&body);
    assert_eq!(with_drop.n_strays, 5);
    assert!(with_drop.vertices.iter().any(|v| v[0] > 9.0), "the drop of five is there");
    assert_eq!(defects(&with_drop), Defects::default());
}

#[test]
fn velocities_of_a_rigid_motion_come_back() {
    let body = Particles::cube(12, Sampling::Relaxed);
    let (axis, drift) = (vec3(0.3, -1.0, 0.5), vec3(1.0, 2.0, 3.0));
    let velocity = |x: Vec3| axis.cross(x) + drift;
    let wide = |p: &[f32; 3]| Vec3::from_array(p.map(Real::from));
    let velocities: Vec<[f32; 3]> =
        body.positions.iter().map(|p| velocity(wide(p)).to_array().map(|v| v as f32)).collect();
    let moving = skin(&Matter { velocities: &velocities, ..body.matter() }, &SkinParams::default()).unwrap();
    assert_eq!(moving.velocities.len(), moving.vertices.len());
    for (x, v) in moving.vertices.iter().zip(&moving.velocities) {
        // the mean is that of the matter beneath the surface: at most a spacing away, in a rotation of 1.16 / s
        let error = (wide(v) - velocity(wide(x))).length();
        assert!(error < 1.16 * 0.1, "{error} at {x:?}");
    }
    assert!(skin_of(&body).velocities.is_empty());
}

#[test]
fn far_from_the_origin_and_small_or_large_it_is_the_same_skin() {
    let body = Particles::cube(8, Sampling::Relaxed);
    let near = skin_of(&body);
    for (scale, shift) in [(1e-3, 0.0), (1e3, 0.0), (1.0, 100.0)] {
        let positions: Vec<[f32; 3]> =
            body.positions.iter().map(|p| p.map(|x| (x * scale) + shift)).collect();
        let radii: Vec<f32> = body.radii.iter().map(|r| r * scale).collect();
        let volume = body.volume * Real::from(scale).powi(3);
        let skin =
            skin(&Matter { volume: Some(volume), ..Matter::new(&positions, &radii) }, &SkinParams::default());
        let skin = skin.unwrap();
        assert_eq!(defects(&skin), Defects::default());
        assert!((skin.volume / volume - 1.0).abs() < 0.002, "{scale} {shift}: {}", skin.volume / volume);
        let change = skin.vertices.len() as Real / near.vertices.len() as Real - 1.0;
        // the body has another position in the cells
        assert!(change.abs() < 0.2, "{scale} {shift}: {change}");
    }
}

#[test]
fn what_cannot_be_skinned_is_refused_with_a_remedy() {
    let body = Particles::cube(4, Sampling::Lattice);
    let refused = |matter: &Matter<'_>, params: &SkinParams| skin(matter, params).unwrap_err().to_string();
    let default = SkinParams::default();
    let few = Matter::new(&body.positions[..4], &body.radii[..4]);
    assert!(refused(&few, &default).contains("0 of 4 particles hang together"));
    assert!(refused(&Matter::new(&[], &[]), &default).contains("more particles"));
    let apart: Vec<[f32; 3]> = body.positions.iter().map(|p| p.map(|x| 3.0 * x)).collect();
    assert!(refused(&Matter::new(&apart, &body.radii), &default).contains("larger radius"));
    assert!(refused(&Matter::new(&body.positions, &body.radii[1..]), &default).contains("63 radii"));
    let mut broken = body.positions.clone();
    broken[7][1] = f32::NAN;
    let error = skin(&Matter::new(&broken, &body.radii), &default).unwrap_err();
    assert_eq!(error, SkinError::NotFinite(7));
    for (params, word) in [
        (SkinParams { radius: Some(0.0), ..default }, "radius is 0"),
        (SkinParams { radius: Some(Real::NAN), ..default }, "radius is NaN"),
        (SkinParams { cell: 0.01, ..default }, "from 0.2 to 2"),
        (SkinParams { iso: 1.5, ..default }, "iso is 1.5"),
    ] {
        let text = refused(&body.matter(), &params);
        assert!(text.contains(word), "{word} is missing in: {text}");
    }
    // two blocks a thousand kilometres from each other
    let mut far = body.positions.clone();
    far.extend(body.positions.iter().map(|p| [p[0] + 1e6, p[1], p[2]]));
    let radii = vec![0.05; far.len()];
    assert!(refused(&Matter::new(&far, &radii), &default).contains("cells"));
}
