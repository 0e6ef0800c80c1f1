//! Scenes of Jones et al. 2014, Table I, as far as they are implemented, and the stages of its Table II.
//!
//! Figure 7 shows a bunny in the paper; here it is the bar of Figure 5 with as many particles. Figure 10 is missing.

use crate::failure::Failure;
use crate::table::Table;
use crate::{clock, memory};
use phyxel::contact::{Axes, Ease, Friction, Grip, Keyframe, Motion, Obstacle};
use phyxel::geometry::{PlacedShape, Placement, Sampling, Shape, Spacing};
use phyxel::material::{Material, Property, YieldMeasure};
use phyxel::math::{Vec3, vec3};
use phyxel::methods::{CATALOGUE, MethodFactory, SettingValue};
use phyxel::world::{Body, World, WorldBuilder};
use serde_json::{Map, Value, json};

/// Rate of the paper's frames (1/s).
const FRAME_RATE: f64 = 30.0;
/// Gap between the floor and a body that is about to fall on it (m).
const GAP: f64 = 0.02;

/// A row of Table I.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// Name of the case on the command line of a child process.
    pub(super) key: &'static str,
    /// Number of the figure.
    pub(super) figure: u32,
    label: &'static str,
    what: What,
    /// Time step (s); `None` for the method's own.
    time_step: Option<f64>,
    n_frames: usize,
    /// Seconds per frame in the paper.
    paper_seconds: f64,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A plastic bar falls on the floor; spacing (m).
    Drop { spacing: f64 },
    /// One end of a bar is turned; word of the setting `embedding`.
    Twist(&'static str),
    /// A block with a graded spacing falls on the floor.
    Graded,
}

/// All cases, in the order of the paper.
pub(super) const CASES: [Case; 5] = [
    Case {
        key: "2-linear",
        figure: 2,
        label: "2 linear",
        what: What::Twist("linear"),
        time_step: Some(1e-3),
        n_frames: 15,
        paper_seconds: 2.36,
    },
    Case {
        key: "2-nonlinear",
        figure: 2,
        label: "2 nonlinear",
        what: What::Twist("nonlinear"),
        time_step: Some(1e-3),
        n_frames: 15,
        paper_seconds: 4.30,
    },
    Case {
        key: "5",
        figure: 5,
        label: "5",
        what: What::Drop { spacing: 0.05 },
        time_step: Some(1e-3),
        n_frames: 30,
        paper_seconds: 1.2,
    },
    Case {
        key: "7",
        figure: 7,
        label: "7 (its size)",
        what: What::Drop { spacing: 0.05 / 1.887 },
        time_step: Some(4e-4),
        n_frames: 15,
        paper_seconds: 278.0,
    },
    // the paper's step of 5 ms is over our stability limit
    Case {
        key: "8",
        figure: 8,
        label: "8 (own step)",
        what: What::Graded,
        time_step: None,
        n_frames: 15,
        paper_seconds: 2.39,
    },
];

/// Steps of Table II, their shares of the time there (%), our stages. Basis matrices are computed where bonds change.
const STAGES: [(&str, f64, &[&str]); 9] = [
    ("Compute basis matrices", 3.54, &[]),
    ("Viscosity solve", 17.19, &["viscosity"]),
    ("Compute forces", 4.55, &["deformation", "forces"]),
    ("Explicit integration step", 0.36, &["integrate"]),
    ("Embedding solve", 41.70, &["embedding"]),
    ("Resampling", 2.24, &["resampling"]),
    ("Neighborhood updates", 22.91, &["neighborhoods"]),
    ("Compute plastic offsets", 3.73, &["plastic flow"]),
    ("Handle collisions", 0.19, &["contact"]),
];
/// Stages that the paper does not have.
const OWN_STAGES: [&str; 2] = ["guard", "speed limit"];

const NOTES: &str = "\
here: seconds of wall time per frame of 1/30 s; paper: a dual 2.8 GHz Xeon with up to 12 cores (Table I)
Figure 2 embeds in every step, as the paper does; the others when enough has flowed (default settings). Figure 7 is the bar of
Figure 5 with as many particles as the paper's bunny. Figure 8 takes the method's own time step: the paper's 5 ms is over its
stability limit here.
";

const STAGE_NOTES: &str = "\
\"deformation\" also finds what flows, a part of the paper's plastic offsets. Basis matrices have no stage here: they are made
where bonds change, in \"plastic flow\" and \"neighborhoods\".
";

/// Returns the method of the paper, with its default settings.
fn paper_method() -> Result<Box<dyn MethodFactory>, Failure> {
    let entry = CATALOGUE.iter().find(|entry| entry.paper.starts_with("Jones et al. 2014"));
    let default = entry.and_then(|entry| entry.default_factory);
    let default = default.ok_or_else(|| {
        Failure::Usage("the method of Jones et al. 2014 is not built in this version".into())
    })?;
    Ok(default())
}

impl Case {
    /// Builds the world, with all spacings multiplied by `coarsening`.
    fn world(&self, coarsening: f64) -> Result<World, Failure> {
        let mut method = paper_method()?;
        let builder = match self.what {
            What::Drop { spacing } => {
                let shape = Shape::Box { size: vec3(32.0, 13.0, 13.0) * 0.05 };
                drop(shape, Spacing::Uniform(coarsening * spacing), 5.0)
            }
            What::Twist(embedding) => {
                // embeds as often as the paper: with the default there would be too little flow for a single update
                for (key, value) in [
                    ("embedding", SettingValue::Word(embedding.into())),
                    ("embed_every", SettingValue::Integer(1)),
                    ("embed_flow", SettingValue::Number(0.0)),
                ] {
                    method.set(key, &value).map_err(|error| Failure::Run(error.to_string()))?;
                }
                twist(0.025 * coarsening)
            }
            What::Graded => {
                let from = 0.0188 * coarsening;
                let shape = Shape::Box { size: vec3(1.0, 0.5, 0.5) };
                drop(shape, Spacing::Along { axis: Vec3::X, from, to: 2.5 * from }, 3.0)
            }
        };
        let builder = builder.default_method(method.key()).method_factory(method);
        let builder = builder.time_step(self.time_step).clock(clock::seconds);
        builder.build().map_err(|error| Failure::Run(error.to_string()))
    }

    /// Times all frames with the threads of the current pool.
    pub(super) fn measure(&self) -> Result<Value, Failure> {
        self.measure_frames(1.0, self.n_frames)
    }

    fn measure_frames(&self, coarsening: f64, n_frames: usize) -> Result<Value, Failure> {
        let mut world = self.world(coarsening)?;
        let n_particles = world.n_particles();
        let (mut n_steps, mut seconds) = (0, Vec::with_capacity(n_frames));
        for frame in 1..=n_frames {
            let start = clock::seconds();
            world.advance_to(frame as f64 / FRAME_RATE).map_err(|error| Failure::Run(error.to_string()))?;
            seconds.push(clock::seconds() - start);
            n_steps += world.ledger().n_steps;
        }
        let total: f64 = seconds.iter().sum();
        let stages: Map<String, Value> =
            world.timings().stages().iter().map(|(name, s)| ((*name).to_owned(), json!(s))).collect();
        Ok(json!({
            "figure": self.label,
            "particles": n_particles,
            "particles_at_end": world.n_particles(),
            "threads": rayon::current_num_threads(),
            "frames": n_frames,
            "steps": n_steps,
            "time_step": world.time() / n_steps.max(1) as f64,
            "seconds": total,
            "seconds_per_frame": total / n_frames as f64,
            "slowest_frame": seconds.iter().copied().fold(0.0, f64::max),
            "paper_seconds_per_frame": self.paper_seconds,
            "stages": stages,
            "peak_bytes": memory::peak(),
        }))
    }
}

fn plastic(viscosity: f64, yield_stress: f64, flow_rate: f64) -> Material {
    let material = Material::elastic(1e5, 0.3).with(Property::Viscosity, viscosity);
    material.creeping(YieldMeasure::Deviatoric, yield_stress, flow_rate)
}

/// Builds a world with a plastic body just above the floor that moves down at a speed (m/s).
fn drop(shape: Shape, spacing: Spacing, speed: f64) -> WorldBuilder {
    let height = shape.bounds().map_or(0.0, |bounds| -bounds.min.y);
    let mut body = Body::new("bar", shape, 1.0, plastic(16.0, 200.0, 400.0));
    body = body.at(vec3(0.0, height + GAP, 0.0));
    (body.fill.spacing, body.fill.sampling) = (spacing, Sampling::Jittered);
    body.velocity = vec3(0.0, -speed, 0.0);
    let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    floor.friction = Friction::Coulomb(1.0);
    World::builder().body_contact(false).body(body).obstacle(floor)
}

/// Builds a world with a bar whose ends are held; one of them is turned.
fn twist(spacing: f64) -> WorldBuilder {
    let size = vec3(41.0, 11.0, 11.0) * 0.025;
    let mut bar = Body::new("bar", Shape::Box { size }, spacing, plastic(320.0, 1000.0, 40.0));
    bar.fill.sampling = Sampling::Jittered;
    let turned = Keyframe { time: 0.5, rotation: Vec3::X * 135f64.to_radians(), ..Keyframe::default() };
    // ascending keys make a valid motion
    let turn = Motion::try_new(vec![turned], Ease::Linear).unwrap_or_default();
    let grip = |name: &str, side: f64, motion| Grip {
        name: name.into(),
        body: "bar".into(),
        select: PlacedShape {
            // one layer of particles: the jitter keeps each particle within its cell
            placement: Placement { position: Vec3::X * (side * 0.5 * size.x), ..Placement::default() },
            ..Shape::Box { size: vec3(2.0 * spacing, 2.0 * size.y, 2.0 * size.z) }.into()
        },
        motion,
        release: None,
        axes: Axes::ALL,
    };
    let (left, right) = (grip("left", -1.0, Motion::still()), grip("right", 1.0, turn));
    World::builder().body_contact(false).body(bar).grip(left).grip(right).gravity(Vec3::ZERO)
}

/// Returns the measurements as text.
pub(super) fn report(measured: &[Value]) -> String {
    let mut text = format!("Jones et al. 2014, Table I\n\n{}", rows(measured));
    let seconds = |figure: &str| {
        let run = measured.iter().find(|run| run["figure"] == figure)?;
        Some((run["seconds_per_frame"].as_f64()?, run["paper_seconds_per_frame"].as_f64()?))
    };
    if let (Some(linear), Some(nonlinear)) = (seconds("2 linear"), seconds("2 nonlinear")) {
        let [here, paper] = [nonlinear.0 / linear.0, nonlinear.1 / linear.1];
        text += &format!("nonlinear over linear embedding: {here:.2} here, {paper:.2} in the paper\n");
    }
    text += NOTES;
    if let Some(run) = measured.iter().find(|run| run["figure"] == "5") {
        text += &format!("\nTable II, shares of the time of Figure 5\n\n{}{STAGE_NOTES}", shares(run));
    }
    text
}

fn rows(measured: &[Value]) -> Table {
    let head = [
        "figure",
        "particles",
        "threads",
        "step [ms]",
        "s/frame",
        "slowest",
        "paper s/frame",
        "paper/here",
        "peak MB",
    ];
    let mut table = Table::new(head, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for run in measured {
        let number = |name: &str| run[name].as_f64().unwrap_or(f64::NAN);
        let (here, paper) = (number("seconds_per_frame"), number("paper_seconds_per_frame"));
        table.row([
            run["figure"].as_str().unwrap_or_default().to_owned(),
            run["particles"].to_string(),
            run["threads"].to_string(),
            format!("{:.2}", 1e3 * number("time_step")),
            format!("{here:.3}"),
            format!("{:.3}", number("slowest_frame")),
            format!("{paper}"),
            format!("{:.1}", paper / here),
            run["peak_bytes"].as_f64().map_or_else(String::new, |bytes| format!("{:.0}", bytes / 1e6)),
        ]);
    }
    table
}

fn shares(run: &Value) -> Table {
    let total = run["seconds"].as_f64().unwrap_or(f64::NAN);
    let share = |stages: &[&str]| {
        let seconds: f64 = stages.iter().filter_map(|stage| run["stages"][stage].as_f64()).sum();
        100.0 * seconds / total
    };
    let mut table = Table::new(["step", "here %", "paper %", "our stages"], &[1, 2]);
    for (step, paper, stages) in STAGES {
        let here = if stages.is_empty() { String::new() } else { format!("{:.2}", share(stages)) };
        table.row([step.to_owned(), here, format!("{paper:.2}"), stages.join(", ")]);
    }
    let own = format!("{:.2}", share(&OWN_STAGES));
    table.row(["(not in the paper)".into(), own, String::new(), OWN_STAGES.join(", ")]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if the catalogue names the authors: then the paper's method must be found.
    fn is_listed() -> bool {
        CATALOGUE.iter().any(|entry| entry.paper.contains("Jones"))
    }

    /// Runs few particles until all stages have begun; the table of stages must contain each of them.
    #[test]
    fn every_world_runs_and_has_every_stage() {
        if !is_listed() {
            return;
        }
        for case in CASES {
            let coarsening = if case.key == "7" { 4.0 } else { 2.2 };
            let value = case.measure_frames(coarsening, 4).unwrap();
            let n_particles = value["particles"].as_u64().unwrap();
            assert!((200..2000).contains(&n_particles), "{}: {n_particles} particles", case.key);
            let known: Vec<&str> = STAGES.iter().flat_map(|row| row.2).chain(&OWN_STAGES).copied().collect();
            let stages = value["stages"].as_object().unwrap();
            for stage in stages.keys() {
                assert!(known.contains(&stage.as_str()), "{}: \"{stage}\" is in no row", case.key);
            }
            for stage in &known {
                assert!(stages.contains_key(*stage), "{}: there is no \"{stage}\"", case.key);
            }
            let sum: f64 = stages.values().filter_map(Value::as_f64).sum();
            assert!(sum > 0.0 && sum <= value["seconds"].as_f64().unwrap());
            let step = value["time_step"].as_f64().unwrap();
            assert!(case.time_step.is_none_or(|asked| step <= asked * (1.0 + 1e-9) && step > 0.8 * asked));
        }
    }

    /// Compares the number of particles with Table I, to within 5 %.
    #[test]
    fn worlds_have_the_sizes_of_the_paper() {
        if !is_listed() {
            return;
        }
        for (case, expected) in CASES.iter().zip([5000, 5000, 5408, 36_675, 10_470]) {
            let n_particles = case.world(1.0).unwrap().n_particles();
            let ratio = n_particles as f64 / f64::from(expected);
            assert!((ratio - 1.0).abs() < 0.05, "{}: {n_particles} particles", case.key);
        }
    }

    #[test]
    fn the_report_compares_with_the_paper() {
        let run = |figure: &str, here: f64, paper: f64| {
            json!({
                "figure": figure, "particles": 5000, "threads": 2, "time_step": 1e-3, "seconds": 10.0 * here,
                "seconds_per_frame": here, "slowest_frame": here, "paper_seconds_per_frame": paper,
                "stages": { "viscosity": 5.0 * here, "embedding": 2.5 * here }, "peak_bytes": 40_000_000,
            })
        };
        let measured = [run("2 linear", 0.5, 2.36), run("2 nonlinear", 1.0, 4.3), run("5", 0.1, 1.2)];
        let text = report(&measured);
        assert!(text.contains("2.00 here, 1.82 in the paper"), "{text}");
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(line("5 ").contains("12.0") && line("5 ").ends_with("40"), "{text}");
        assert!(line("Viscosity solve").contains("50.00") && line("Viscosity solve").contains("17.19"));
        assert!(!report(&measured[..1]).contains("Table II"));
    }
}
