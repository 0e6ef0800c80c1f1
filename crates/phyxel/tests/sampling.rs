//! Tests of the ledger's measure of sampling quality, for every method.

mod support;

use phyxel::geometry::{PlacedShape, Sampling, Shape, Spacing};
use phyxel::math::{Mat3, Real, Vec3, vec3};
use phyxel::world::{Body, SamplingQuality, World};
use support::{bar, elastic, methods};

const A: Real = 0.05;

fn for_each_method(test: impl Fn(&'static str)) {
    methods().for_each(test);
}

fn world(method: &str, bodies: impl IntoIterator<Item = Body>) -> World {
    let builder = World::builder().default_method(method).gravity(Vec3::ZERO);
    bodies.into_iter().fold(builder, |builder, body| builder.body(body)).build().unwrap()
}

fn assert_sampling(world: &World, [median, smallest]: [Real; 2], n_pieces: usize, what: &str) {
    let found = world.ledger().sampling;
    let SamplingQuality {
        nearest_median: Some(m),
        nearest_smallest: Some(s),
        n_crowded: 0,
        n_pieces: Some(n),
    } = found
    else {
        panic!("{what}: {found:?}");
    };
    assert!((m - median).abs() < 1e-9 && (s - smallest).abs() < 1e-9, "{what}: {found:?}");
    assert_eq!(n, n_pieces, "{what}");
}

/// Checks that a lattice has distances of one spacing under any elastic strain, and that each body is a piece, even if
/// two nearly touch.
#[test]
fn lattices_have_one_spacing_and_a_piece_per_body() {
    for_each_method(|method| {
        let block = |name: &str| bar(name, [5, 6, 7], A, elastic(1e5, 0.3));
        let mut one = world(method, [block("a")]);
        assert_sampling(&one, [1.0, 1.0], 1, method);
        let squash = Mat3::from_diagonal(vec3(0.85, 1.1, 0.9));
        one.edit_particles(|p| p.position.iter_mut().for_each(|x| *x = squash * *x));
        assert_sampling(&one, [1.0, 1.0], 1, &format!("{method}, squashed"));
        let beside = block("b").at(vec3(2.5 + 5.02, 3.0, 3.5) * A);
        assert_sampling(
            &world(method, [block("a"), beside]),
            [1.0, 1.0],
            2,
            &format!("{method}, two bodies"),
        );
    });
}

/// Checks that one body may consist of several pieces, if its parts are too far apart for bonds.
#[test]
fn parts_without_bonds_between_them_are_pieces() {
    for_each_method(|method| {
        let cube = |x: Real| {
            let mut cube = PlacedShape::from(Shape::Box { size: Vec3::splat(6.0 * A) });
            cube.placement.position = vec3(x, 0.0, 0.0);
            cube
        };
        let shape = Shape::Union(vec![cube(-10.0 * A), cube(10.0 * A)]);
        let split = world(method, [Body::new("b", shape, A, elastic(1e5, 0.3))]);
        assert_sampling(&split, [1.0, 1.0], 2, method);
    });
}

/// Checks that two particles near each other set the smallest distance and do not change the median.
#[test]
fn the_smallest_distance_is_that_of_the_nearest_pair() {
    for_each_method(|method| {
        let mut pair = world(method, [bar("b", [6, 6, 6], A, elastic(1e5, 0.3))]);
        pair.edit_particles(|p| {
            let middle = |x: &Vec3| (*x - vec3(2.5, 2.5, 2.5) * A).length() < 0.1 * A;
            p.position.iter_mut().filter(|x| middle(x)).for_each(|x| x.z += 0.7 * A);
        });
        let found = pair.ledger().sampling;
        println!("{method}: {found:?}");
        assert_eq!(found.n_crowded, 2, "{method}");
        // neighbours take a little of the motion as strain
        assert!((found.nearest_smallest.unwrap() - 0.3).abs() < 0.05, "{method}: {found:?}");
        assert!((found.nearest_median.unwrap() - 1.0).abs() < 0.02, "{method}: {found:?}");
    });
}

/// Checks the sampling quality of bodies at the start: thresholds of warnings must stay below these values.
#[test]
fn fills_are_sampled_well() {
    let method = methods().last().unwrap();
    let graded = Spacing::Along { axis: Vec3::Y, from: 1.5 * A, to: 0.5 * A };
    let shapes = [
        ("box", Shape::Box { size: vec3(14.0, 10.0, 12.0) * A }),
        ("sphere", Shape::Sphere { radius: 7.0 * A }),
        ("torus", Shape::Torus { radius: 8.0 * A, tube_radius: 3.0 * A }),
    ];
    for sampling in [Sampling::Lattice, Sampling::Jittered, Sampling::Relaxed] {
        for (name, shape) in &shapes {
            for spacing in [Spacing::Uniform(A), graded] {
                let mut body = Body::new(*name, shape.clone(), A, elastic(1e5, 0.3));
                (body.fill.sampling, body.fill.spacing) = (sampling, spacing);
                let ledger = world(method, [body]).ledger();
                let SamplingQuality { nearest_median, nearest_smallest, n_crowded, n_pieces } =
                    ledger.sampling;
                let (median, smallest) = (nearest_median.unwrap(), nearest_smallest.unwrap());
                println!(
                    "{name} {sampling:?} {spacing:?}: {} particles, {median:.3} {smallest:.3}",
                    ledger.n_particles
                );
                assert!(
                    median > 0.7 && smallest > 0.4,
                    "{name} {sampling:?} {spacing:?}: {median} {smallest}"
                );
                assert_eq!((n_crowded, n_pieces), (0, Some(1)));
            }
        }
    }
}

/// Checks that the measure is bitwise the same for any number of threads.
#[test]
fn quality_has_the_same_bits_for_any_number_of_threads() {
    for_each_method(|method| {
        let mut body = bar("b", [12, 10, 14], A, elastic(1e5, 0.3));
        body.fill.sampling = Sampling::Jittered;
        let world = world(method, [body]);
        let with = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| world.ledger().sampling)
        };
        assert_eq!(with(1), with(3), "{method}");
    });
}
