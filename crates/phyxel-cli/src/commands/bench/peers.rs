//! One scene beside what other programs need for it: a cube that falls onto a floor, elastic or plastic.
//!
//! The peers were run once, side by side with this program, in one window of time on two cores of an AMD EPYC; their
//! figures stand here with their conditions. What counts is CPU time per frame, because peers take other steps.

use crate::failure::Failure;
use crate::table::Table;
use crate::{clock, memory};
use phyxel::contact::{Friction, Obstacle};
use phyxel::geometry::Shape;
use phyxel::material::{Material, YieldMeasure};
use phyxel::math::{Vec3, vec3};
use phyxel::methods::{CATALOGUE, Entry};
use phyxel::world::{Body, World};
use serde_json::{Value, json};

/// Edge of the cube (m).
const SIDE: f64 = 0.4;
/// Particles along an edge; 28³ = 21,952 in all.
const N_SIDE: f64 = 28.0;
/// Height from which the cube falls (m).
const HEIGHT: f64 = 0.1;
/// Rate of the frames (1/s).
const FRAME_RATE: f64 = 30.0;
/// Time at which the impact is over (s): what is timed begins here, for the peers, too.
const BEGIN: f64 = 0.2;
/// Length of a window that is timed (s), and their number; the quickest counts.
const WINDOW: f64 = 0.05;
const N_WINDOWS: usize = 3;
/// Young's modulus (Pa), Poisson's ratio, yield stress (Pa) and flow rate (1/s).
const MATTER: (f64, f64, f64, f64) = (1e6, 0.3, 1e4, 200.0);

/// Time of another program.
struct Peer {
    name: &'static str,
    step_ms: f64,
    /// CPU seconds per frame, elastic and plastic.
    cpu_seconds: [Option<f64>; 2],
}

const PEERS: [Peer; 3] = [
    Peer { name: "Taichi 1.7.4, MLS-MPM f32, neo-Hookean", step_ms: 0.62, cpu_seconds: [Some(0.40), None] },
    Peer {
        name: "Taichi 1.7.4, MLS-MPM f32, corotated",
        step_ms: 0.62,
        cpu_seconds: [Some(0.93), Some(0.96)],
    },
    Peer {
        name: "SPlisHSPlasH, Becker et al., 19,683 particles",
        step_ms: 0.5,
        cpu_seconds: [Some(5.2), None],
    },
];

const NOTES: &str = "\
A cube of 0.4 m (E 1 MPa, Poisson's ratio 0.3, 1000 kg/m3; plastic: von Mises, 10 kPa), 21,952 particles on a lattice, falls
0.1 m onto a floor; CPU seconds of all threads per frame of 1/30 s in the quickest of three windows of 0.05 s from 0.2 s on,
just after the impact. Peers: measured once, in the same windows, beside this program on two cores of an AMD EPYC, when
`reference` took 0.78 to 1.01 and `embedded` 2.9 to 3.3 there (elastic); divide by these to compare with another machine.
MLS-MPM has a dense grid with 8 particles per cell, quadratic splines, APIC.
";

/// A scene by a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) method: &'static str,
    is_plastic: bool,
}

impl Case {
    /// Returns all cases: every method with the elastic cube, and with the plastic one if it can flow.
    pub(super) fn all() -> Vec<Self> {
        let cases = |entry: &'static Entry| {
            let plastic = Self { method: entry.key, is_plastic: true };
            let can_flow = plastic.world(4.0).is_ok();
            [Some(Self { is_plastic: false, ..plastic }), can_flow.then_some(plastic)]
        };
        let built = CATALOGUE.iter().filter(|entry| entry.default_factory.is_some());
        built.flat_map(cases).flatten().collect()
    }

    /// Returns the name of the case on the command line of a child process.
    pub(super) fn key(&self) -> String {
        format!("{}-{}", self.method, if self.is_plastic { "plastic" } else { "elastic" })
    }

    fn world(&self, n_side: f64) -> Result<World, Failure> {
        let (modulus, ratio, yield_stress, flow_rate) = MATTER;
        let elastic = Material::elastic(modulus, ratio);
        let material = match self.is_plastic {
            true => elastic.creeping(YieldMeasure::Deviatoric, yield_stress, flow_rate),
            false => elastic,
        };
        let shape = Shape::Box { size: Vec3::splat(SIDE) };
        let cube = Body::new("cube", shape, SIDE / n_side, material);
        let cube = cube.at(vec3(0.0, 0.5 * SIDE + HEIGHT, 0.0));
        let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
        floor.friction = Friction::Coulomb(0.4);
        let builder = World::builder().default_method(self.method).body(cube).obstacle(floor);
        builder.clock(clock::seconds).build().map_err(|error| Failure::Run(error.to_string()))
    }

    /// Times the windows with the threads of the current pool.
    pub(super) fn measure(&self) -> Result<Value, Failure> {
        self.measure_from(BEGIN, N_SIDE)
    }

    fn measure_from(&self, begin: f64, n_side: f64) -> Result<Value, Failure> {
        let mut world = self.world(n_side)?;
        let advance = |world: &mut World, to: f64| {
            world.advance_to(to).map_err(|error| Failure::Run(error.to_string()))
        };
        advance(&mut world, begin)?;
        let (mut n_steps, mut quickest) = (0, f64::INFINITY);
        let mut cpu = clock::cpu_seconds().map(|_| f64::INFINITY);
        let per_frame = |seconds: f64| seconds / (WINDOW * FRAME_RATE);
        for window in 1..=N_WINDOWS {
            let (start, cpu_start) = (clock::seconds(), clock::cpu_seconds());
            advance(&mut world, begin + window as f64 * WINDOW)?;
            quickest = quickest.min(per_frame(clock::seconds() - start));
            let used = cpu_start.zip(clock::cpu_seconds()).map(|(from, to)| per_frame(to - from));
            cpu = cpu.zip(used).map(|(least, used)| least.min(used));
            n_steps += world.ledger().n_steps;
        }
        Ok(json!({
            "method": self.method,
            "scene": if self.is_plastic { "plastic" } else { "elastic" },
            "particles": world.n_particles(),
            "threads": rayon::current_num_threads(),
            "steps": n_steps,
            "time_step": N_WINDOWS as f64 * WINDOW / n_steps.max(1) as f64,
            "seconds_per_frame": quickest,
            "cpu_seconds_per_frame": cpu,
            "peak_bytes": memory::peak(),
        }))
    }
}

/// Returns the measurements and the peers' figures as text.
pub(super) fn report(measured: &[Value]) -> String {
    let head =
        ["program", "threads", "step [ms]", "elastic CPU s/frame", "plastic CPU s/frame", "wall s/frame"];
    let mut table = Table::new(head, &[1, 2, 3, 4, 5]);
    let shown = |seconds: Option<f64>| seconds.map_or_else(|| "-".to_owned(), |s| format!("{s:.2}"));
    for run in measured {
        let cpu = |scene: &str| run["cpu_seconds_per_frame"].as_f64().filter(|_| run["scene"] == scene);
        table.row([
            format!("phyxel, {}", run["method"].as_str().unwrap_or_default()),
            run["threads"].to_string(),
            format!("{:.2}", 1e3 * run["time_step"].as_f64().unwrap_or(f64::NAN)),
            shown(cpu("elastic")),
            shown(cpu("plastic")),
            shown(run["seconds_per_frame"].as_f64()),
        ]);
    }
    for peer in &PEERS {
        let [elastic, plastic] = peer.cpu_seconds.map(shown);
        table.row([peer.name.into(), "2".into(), format!("{}", peer.step_ms), elastic, plastic, "-".into()]);
    }
    format!("{table}{NOTES}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures a coarse cube by every method and prints the table.
    #[test]
    fn every_method_has_a_row_and_so_has_every_peer() {
        let cases = Case::all();
        let measured: Vec<Value> = cases.iter().map(|case| case.measure_from(0.0, 5.0).unwrap()).collect();
        assert!(measured.iter().all(|run| run["steps"].as_u64().unwrap() > 0 && run["particles"] == 125));
        let text = report(&measured);
        let rows = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(rows("phyxel"), cases.len());
        assert_eq!(rows("Taichi") + rows("SPlisHSPlasH"), PEERS.len());
        assert!(cases.iter().any(|case| case.is_plastic) && cases.iter().any(|case| !case.is_plastic));
    }
}
