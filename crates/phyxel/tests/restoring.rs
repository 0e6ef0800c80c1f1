//! Tests that state which cannot be is answered with an error when it is restored, never with a panic.

mod support;

use phyxel::contact::{Axes, Friction, Obstacle};
use phyxel::geometry::Shape;
use phyxel::math::{Mat3, Real, ShortVec3, Vec3, vec3};
use phyxel::methods::rigid::Params;
use phyxel::particles::{Carry, StateData, StateItem, StateVisitor};
use phyxel::world::{Body, Hold, World};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::saving::Saved;
use support::{bar, elastic, flowing_methods, grip_across_z, methods};

/// Builds a world in which every kind of state exists: particles that are held, stick, carry points and are dragged,
/// a moved obstacle and a rigid body.
fn world(method: &str) -> World {
    let mut matter = elastic(1e5, 0.3);
    if flowing_methods().any(|flowing| flowing == method) {
        matter = matter.creeping(Default::default(), 200.0, 300.0);
    }
    let mut soft = bar("soft", [4, 4, 4], 0.1, matter).at(vec3(0.2, 0.205, 0.2));
    soft.method = Some(method.into());
    soft.velocity = vec3(0.0, -1.0, 0.0);
    soft.carried.points = soft.shape.triangulate(16).unwrap().refined(0.1).vertices().to_vec();
    let size = Vec3::splat(0.3);
    let mut hard = Body::new("hard", Shape::Box { size }, 0.1, elastic(1e5, 0.3)).at(vec3(1.2, 0.16, 0.2));
    hard.method = Some("rigid".into());
    let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    floor.friction = Friction::Stick;
    let grip = grip_across_z("hand", "soft", [0.0, 0.1], Axes::ALL, Vec::new());
    let mut world = World::builder()
        .method(Params::default())
        .body(soft)
        .body(hard)
        .grip(grip)
        .obstacle(floor)
        .build()
        .unwrap();
    let floor = world.obstacle("floor").unwrap();
    world.move_obstacle(floor, vec3(0.0, 0.01, 0.0), Vec3::ZERO);
    let hold = Hold::Nearest { body: "soft".into(), point: Vec3::ZERO };
    world.drag(hold, vec3(0.0, 1.0, 0.0)).unwrap();
    world
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Damage {
    /// The last index becomes the given one.
    Index(u32),
    /// The last row is missing, or all.
    Shorter { by_all: bool },
    /// The last value is not a number.
    NotANumber,
}

/// Visitor that damages one item; remembers its name, and whether it holds indices.
struct Breaker {
    item: usize,
    damage: Damage,
    n_seen: usize,
    hit: Option<(&'static str, bool)>,
}

impl StateVisitor for Breaker {
    fn visit(&mut self, item: StateItem<'_>) {
        self.n_seen += 1;
        if self.n_seen != self.item + 1 {
            return;
        }
        fn shorten<T>(rows: &mut Vec<T>, by_all: bool) -> bool {
            let is_changed = !rows.is_empty();
            rows.truncate(if by_all { 0 } else { rows.len().saturating_sub(1) });
            is_changed
        }
        fn put<T>(rows: &mut [T], value: T) -> bool {
            rows.last_mut().map(|last| *last = value).is_some()
        }
        let is_index = matches!(item.carry, Carry::Index(_));
        let nan = Real::NAN;
        let is_hit = match (item.data, self.damage) {
            (StateData::Integers(v), Damage::Index(index)) => put(v, index),
            (StateData::Integers(v), Damage::Shorter { by_all }) => shorten(v, by_all),
            (StateData::Reals(v), Damage::Shorter { by_all }) => shorten(v, by_all),
            (StateData::Vectors(v), Damage::Shorter { by_all }) => shorten(v, by_all),
            (StateData::ShortVectors(v), Damage::Shorter { by_all }) => shorten(v, by_all),
            (StateData::Matrices(v), Damage::Shorter { by_all }) => shorten(v, by_all),
            (StateData::Reals(v), Damage::NotANumber) => put(v, nan),
            (StateData::Vectors(v), Damage::NotANumber) => put(v, Vec3::splat(nan)),
            (StateData::ShortVectors(v), Damage::NotANumber) => put(v, ShortVec3::splat(f32::NAN)),
            (StateData::Matrices(v), Damage::NotANumber) => put(v, Mat3::from_diagonal(Vec3::splat(nan))),
            (StateData::Number(x), Damage::NotANumber) => put(std::slice::from_mut(x), nan),
            _ => false,
        };
        self.hit = is_hit.then_some((item.name, is_index));
    }
}

/// Checks every item of the state of every method: no damage is a panic, in restoring or in going on, and all that
/// can be told from the state alone is refused.
#[test]
fn state_that_cannot_be_is_refused_without_a_panic() {
    let damages = [
        Damage::Index(u32::MAX),
        Damage::Index(1 << 20),
        Damage::Shorter { by_all: false },
        Damage::Shorter { by_all: true },
        Damage::NotANumber,
    ];
    for method in methods() {
        let mut original = world(method);
        original.advance_to(0.02).unwrap();
        let saved = Saved::new(&mut original);
        let mut counter = Breaker { item: usize::MAX - 1, damage: damages[0], n_seen: 0, hit: None };
        original.visit_state(&mut counter);
        let mut n_refused_indices = 0;
        for (item, damage) in (0..counter.n_seen).flat_map(|item| damages.map(|damage| (item, damage))) {
            let mut damaged = world(method);
            saved.restore(&mut damaged);
            let mut breaker = Breaker { item, damage, n_seen: 0, hit: None };
            damaged.visit_state(&mut breaker);
            let Some((name, is_index)) = breaker.hit else { continue };
            let what = format!("{method}: {name}, {damage:?}");
            let go_on = || damaged.restored().is_ok_and(|()| damaged.advance_to(0.03).is_ok());
            let is_accepted = catch_unwind(AssertUnwindSafe(go_on)).expect(&what);
            if is_index && matches!(damage, Damage::Index(_)) {
                assert!(!is_accepted, "{what}");
                n_refused_indices += 1;
            }
        }
        assert!(n_refused_indices >= 2 * 7, "{method}: {n_refused_indices}");
    }
}
