//! Random violent scenes from a seed: throws, presses, pulls, spins, thin plates, gaps, pistons, twists and drills of
//! random matter, by all methods in turn. Used by tests and by the example `violent`.

use phyxel::math::{Random, Real, Vec3};
use phyxel::methods::built_methods;
use phyxel_io::results::LedgerTable;

/// A scene of a series.
pub(crate) struct ViolentScene {
    /// Number in the series, kind and method.
    pub(crate) name: String,
    /// Text of the scene file.
    pub(crate) text: String,
}

const KINDS: [&str; 9] = ["throw", "crush", "pull", "zero_g", "thin", "gap", "piston", "twist", "drill"];
/// Duration of a scene (s).
const DURATION: Real = 0.6;
/// Particles of a body.
const PARTICLES: usize = 350;

/// Returns a scene of the series of a seed.
pub(crate) fn violent_scene(seed: u64, number: usize) -> ViolentScene {
    let methods: Vec<_> = built_methods().collect();
    let method = methods[number % methods.len()];
    let kind = KINDS[(number / methods.len()) % KINDS.len()];
    let mut random = Random::with_stream(seed, number as u64);
    let can_flow = !method.abilities.flows.is_empty();
    let gravity = if kind == "zero_g" { 0.0 } else { -9.81 };
    let text = format!(
        "title = \"violent {seed}/{number}: {kind}\"\nmethod = \"{}\"\nduration = {DURATION}\nframe_rate = 30\n\
         gravity = [0, {gravity}, 0]\n\n{}\n{}",
        method.key,
        material(&mut random, can_flow),
        bodies_and_obstacles(kind, &mut random)
    );
    ViolentScene { name: format!("{number:02} {kind} {}", method.key), text }
}

/// Returns a number between both ends, evenly spread by its logarithm.
fn between(random: &mut Random, low: Real, high: Real) -> Real {
    low * (high / low).powf(random.unit())
}

fn choose<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[random.index(words.len())]
}

fn material(random: &mut Random, can_flow: bool) -> String {
    let (density, e) = (between(random, 100.0, 4000.0), between(random, 300.0, 2e6));
    let nu = [0.0, 0.2, 0.3, 0.45][random.index(4)];
    let viscosity = if random.unit() < 0.5 { 0.0 } else { between(random, 0.1, 100.0) };
    let mut text = format!(
        "[materials.matter]\ndensity = {density:.1}\nyoungs_modulus = {e:.1}\npoisson_ratio = {nu}\nviscosity = {viscosity:.3}\n"
    );
    let (share, rate) = (between(random, 0.002, 0.2), between(random, 1.0, 400.0));
    let hardening = [0.0, 0.1, -0.2][random.index(3)];
    if can_flow && random.unit() < 0.5 {
        text += &format!(
            "plasticity = {{ yield_stress = {:.2}, flow_rate = {rate:.2}, hardening = {hardening} }}\n",
            share * e
        );
    }
    text
}

fn vector(v: Vec3) -> String {
    format!("[{:.3}, {:.3}, {:.3}]", v.x, v.y, v.z)
}

fn body(name: &str, shape: &str, position: Vec3, more: &str) -> String {
    format!(
        "[[bodies]]\nname = \"{name}\"\nmaterial = \"matter\"\n{shape}\nposition = {}\nparticles = {PARTICLES}\n{more}\n",
        vector(position)
    )
}

fn any_shape(random: &mut Random) -> &'static str {
    let shapes = [
        "shape.box = { size = [0.25, 0.2, 0.25] }",
        "shape.sphere = { radius = 0.13 }",
        "shape.ellipsoid = { radii = [0.15, 0.1, 0.15] }",
        "shape.capsule = { radius = 0.09, height = 0.25 }",
        "shape.star = { points = 5, radius = 0.18, inner_radius = 0.1, height = 0.14 }",
    ];
    choose(random, &shapes)
}

fn floor(random: &mut Random) -> String {
    let friction = choose(random, &["0", "0.5", "\"stick\""]);
    format!(
        "[[obstacles]]\nname = \"floor\"\nshape.half_space = {{ normal = [0, 1, 0] }}\nfriction = {friction}\n"
    )
}

fn obstacle(name: &str, shape: &str, position: Vec3, motion: &str) -> String {
    format!("[[obstacles]]\nname = \"{name}\"\n{shape}\nposition = {}\n{motion}\n", vector(position))
}

fn moved(time: Real, translation: Vec3) -> String {
    format!("motion = [{{ time = {time:.3}, translation = {} }}]", vector(translation))
}

fn grips(half: Real, motion: &str, random: &mut Random) -> String {
    let release = if random.unit() < 0.5 { "release = 0.4\n" } else { "" };
    let grip = |x: Real, more: &str| {
        format!(
            "[[grips]]\nbody = \"a\"\nselect = {{ box = {{ size = [0.08, 1, 1] }}, position = [{x}, 1, 0] }}\n{more}\n"
        )
    };
    grip(-half, "") + &grip(half, &format!("{motion}\n{release}"))
}

fn bodies_and_obstacles(kind: &str, random: &mut Random) -> String {
    let at = |x: Real, y: Real| Vec3::new(x, y, 0.0);
    let speed = between(random, 1.0, 15.0);
    let shape = any_shape(random);
    let spin = random.in_cube() * between(random, 2.0, 30.0);
    let time = between(random, 0.1, 0.5);
    let thrown = |velocity: Vec3, spin: Vec3| {
        format!("velocity = {}\nangular_velocity = {}", vector(velocity), vector(spin))
    };
    match kind {
        "throw" => {
            let a = body("a", shape, at(-0.5, 0.5), &thrown(at(speed, 1.0), spin));
            let b = body("b", any_shape(random), at(0.0, 0.5), &thrown(at(-0.2 * speed, 0.0), -spin));
            a + &b + &floor(random)
        }
        "crush" => {
            let press = "shape.box = { size = [1, 0.2, 1] }";
            let depth = 0.35 + 0.2 * random.unit();
            body("a", shape, at(0.0, 0.22), "")
                + &floor(random)
                + &obstacle("press", press, at(0.0, 0.7), &moved(time, at(0.0, -depth)))
        }
        "pull" => {
            let bar = body("a", "shape.box = { size = [0.4, 0.12, 0.12] }", at(0.0, 1.0), "");
            let motion = moved(time, at(between(random, 0.1, 0.8), 0.0));
            bar + &grips(0.18, &motion, random) + &floor(random)
        }
        "zero_g" => {
            let a = body("a", shape, at(-0.4, 0.5), &thrown(at(speed, 0.0), spin));
            a + &body("b", any_shape(random), at(0.1, 0.55), &thrown(at(-speed, 0.0), spin))
        }
        "thin" => {
            let plate = "shape.box = { size = [0.5, 0.06, 0.5] }";
            body("a", plate, at(0.0, 0.5), &thrown(at(0.0, -speed), Vec3::ZERO))
                + &floor(random)
                + &obstacle("ball", "shape.sphere = { radius = 0.12 }", at(0.0, 0.15), "")
        }
        "gap" => {
            let side = "shape.box = { size = [0.6, 0.1, 1] }";
            let half = 0.3 + between(random, 0.04, 0.12);
            body("a", shape, at(0.0, 0.85), &thrown(at(0.0, -speed), spin * 0.2))
                + &floor(random)
                + &obstacle("left", side, at(-half, 0.5), "")
                + &obstacle("right", side, at(half, 0.5), "")
        }
        "piston" => {
            let box_ = "shape.box = { size = [0.3, 0.3, 0.3] }";
            let wall = |name: &str, position: Vec3, size: &str| {
                obstacle(name, &format!("shape.box = {{ size = {size} }}"), position, "")
            };
            let side = 0.25;
            let depth = 0.05 + 0.25 * random.unit();
            body("a", box_, at(0.0, 0.16), "")
                + &floor(random)
                + &wall("w0", at(-side, 0.5), "[0.2, 2, 0.9]")
                + &wall("w1", at(side, 0.5), "[0.2, 2, 0.9]")
                + &wall("w2", Vec3::new(0.0, 0.5, -side), "[0.9, 2, 0.2]")
                + &wall("w3", Vec3::new(0.0, 0.5, side), "[0.9, 2, 0.2]")
                + &obstacle("piston", box_, at(0.0, 0.48), &moved(time, at(0.0, -depth)))
        }
        "twist" => {
            let bar = body("a", "shape.box = { size = [0.5, 0.15, 0.15] }", at(0.0, 1.0), "");
            let angle = between(random, 90.0, 2000.0);
            let turn = format!("rotation = {{ axis = [1, 0, 0], angle = \"{angle:.0} deg\" }}");
            bar + &grips(0.22, &format!("motion = [{{ time = {DURATION}, {turn} }}]"), random)
        }
        _ => {
            let block = body("a", "shape.box = { size = [0.3, 0.3, 0.3] }", at(0.0, 0.16), "");
            let drill = "shape.capsule = { radius = 0.05, height = 0.3 }";
            let motion = format!(
                "motion = [{{ time = {time:.3}, translation = [0, -0.4, 0], rotation = {{ axis = [0, 1, 0], angle = \"900 deg\" }} }}]"
            );
            block + &floor(random) + &obstacle("drill", drill, at(0.02, 0.62), &motion)
        }
    }
}

/// Returns the largest share of the energy exchanged that appeared or vanished (percent), from the ledger's sums alone:
/// kinetic, elastic and gravity energy, plastic work and heat, less the work done on the bodies, must stay constant.
pub(crate) fn energy_missing(table: &LedgerTable) -> Real {
    let column = |name: &str| table.numbers(name).unwrap_or_else(|| panic!("the ledger has no {name}"));
    let kept = ["kinetic_energy", "elastic_energy", "gravity_energy", "plastic_work", "heat"].map(column);
    let works = ["obstacle_work", "grip_work", "field_work", "hand_work"].map(column);
    let (percent, error) = (column("energy_error_percent"), column("energy_error"));
    let gain = column("contact_gain");
    let total = |frame: usize| {
        kept.iter().map(|c| c[frame]).sum::<Real>() - works.iter().map(|c| c[frame]).sum::<Real>()
    };
    let missing = |frame: usize| {
        let amiss = error[frame].abs() + gain[frame];
        let exchanged = if amiss > 0.0 { 100.0 * amiss / percent[frame] } else { Real::INFINITY };
        100.0 * (total(frame) - total(0)).abs() / exchanged
    };
    (0..table.rows.len()).map(missing).fold(0.0, Real::max)
}
