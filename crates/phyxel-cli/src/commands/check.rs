//! `phyxel check`: predicts the particles, time step, memory and time of a run before it starts.

use super::print;
use crate::failure::Failure;
use crate::scene_source::{self, SceneSource, describe, describe_fill, number};
use crate::table::Table;
use crate::watch::Watch;
use crate::{clock, memory, threads};
use phyxel::material::{Flow, Law, Material, PROPERTIES, Part, Property, PropertyInfo, YieldMeasure};
use phyxel::methods::ColumnInfo;
use phyxel::particles::Particles;
use phyxel_io::scene::description::PlacedShape;
use std::path::PathBuf;

/// Wall time after which the measurement of steps ends (s).
const MEASURED_SECONDS: f64 = 1.0;
const MOST_STEPS: usize = 50;
/// Expected time above which a warning tells what makes the run slow (s).
const LONG: f64 = 3600.0;
/// Number of particles below which a body hardly has an inside.
const FEW_PARTICLES: usize = 64;

/// Tells what a scene will do: particles, time step, memory, expected time, warnings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  phyxel check clay.toml --set bodies.bar.spacing=0.01")]
pub(crate) struct Args {
    /// The scene file.
    #[arg(value_name = "SCENE.toml")]
    scene: PathBuf,
    /// Threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Changes a key of the scene.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::run::parse_override)]
    set: Vec<(String, String)>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    threads::with_threads(args.threads, || {
        let mut source = scene_source::load(&args.scene, &args.set)?;
        let mut text = format!("{}\n\n{}\n{}\n", source.title, bodies(&source), materials(&source));
        let (limit, reason) = source.world.time_step_limit();
        let mut watch = Watch::default();
        watch.see(0, &source.world.ledger());
        let measured = measure(&mut source);
        watch.see(measured.n_steps + 1, &source.world.ledger());
        text += &outlook(&source, limit, reason, &measured);
        let mut warnings = warnings(&source, &measured, &watch);
        warnings.extend(warning_of_long_run(&source, limit, reason, &measured));
        text += if warnings.is_empty() { "\nno warnings\n" } else { "\nwarnings\n" };
        warnings.iter().for_each(|warning| text += &format!("  - {warning}\n"));
        print(&text)
    })
}

fn bodies(source: &SceneSource) -> Table {
    let mut table = Table::new(["body", "particles", "material", "method", "spacing"], &[1]);
    for (info, body) in source.bodies.iter().zip(&source.scene.bodies) {
        let fill = describe_fill(&body.resolution, body.sampling);
        let cells = [&info.name, &info.n_particles.to_string(), &info.material, &info.method, &fill];
        table.row(cells.map(String::clone));
    }
    table
}

fn materials(source: &SceneSource) -> Table {
    let scalars = || PROPERTIES.iter().filter(|info| info.part == Part::Matter);
    let head = ["material"].into_iter().chain(scalars().map(|info| info.name)).chain(["law", "plasticity"]);
    let mut table = Table::with_head(head.map(str::to_owned).collect(), []);
    for material in &source.scene.materials {
        let mut cells = vec![material.name.clone()];
        cells.extend(scalars().map(|info| describe(&material.values[info.property], info.unit_text())));
        cells.push(material.values.law.map_or("the method's own", Law::key).to_owned());
        cells.push(describe_flow(&material.values));
        table.row(cells);
    }
    table
}

fn describe_flow(material: &Material<PlacedShape>) -> String {
    let Flow::Creep(measure) = material.flow else { return "elastic".to_owned() };
    let own = PROPERTIES.iter().filter(|info| info.part == Part::Creep);
    let is_default = |info: &PropertyInfo| info.default.is_some_and(|d| material[info.property] == d.into());
    let mut parts: Vec<String> = own
        .filter(|info| !is_default(info))
        .map(|info| format!("{} {}", info.name, describe(&material[info.property], info.unit_text())))
        .collect();
    if measure == YieldMeasure::Total {
        parts.push("with pressure".to_owned());
    }
    parts.join(", ")
}

/// Result of taking real steps.
struct Measured {
    n_steps: usize,
    seconds_per_step: f64,
    /// Reason why the steps stopped early.
    failure: Option<String>,
}

/// Takes real steps of the length that the run would use; the first one warms up.
fn measure(source: &mut SceneSource) -> Measured {
    let world = &mut source.world;
    let frame = 1.0 / source.scene.frame_rate;
    let mut measured = Measured { n_steps: 0, seconds_per_step: 0.0, failure: None };
    let mut total = 0.0;
    for attempt in 0..=MOST_STEPS {
        let start = clock::seconds();
        let advanced = world.advance(world.time_step_limit().0.min(frame));
        let seconds = clock::seconds() - start;
        if let Err(error) = advanced {
            measured.failure = Some(error.to_string());
            break;
        }
        if attempt == 0 {
            measured.seconds_per_step = seconds;
            continue;
        }
        total += seconds;
        measured.n_steps += 1;
        measured.seconds_per_step = total / measured.n_steps as f64;
        if total > MEASURED_SECONDS {
            break;
        }
    }
    measured
}

fn expected_seconds(source: &SceneSource, limit: f64, measured: &Measured) -> f64 {
    let steps_per_frame = (1.0 / source.scene.frame_rate / limit).ceil().max(1.0);
    source.scene.n_frames() as f64 * steps_per_frame * measured.seconds_per_step
}

/// Returns a warning that names the value which makes a run long, and what another value would save.
fn warning_of_long_run(
    source: &SceneSource,
    limit: f64,
    reason: &str,
    measured: &Measured,
) -> Option<String> {
    let seconds = expected_seconds(source, limit, measured);
    if seconds < LONG {
        return None;
    }
    let cause = match reason {
        "asked" => format!("`time_step` asks for steps of {} s", number(limit)),
        "speed" => format!(
            "steps of {} s, in which the fastest particle or obstacle moves by a particle's radius, are short: half the \
             speed is twice as fast",
            number(limit)
        ),
        _ => {
            let world = &source.world;
            // sound crosses the particles of the quickest body in the shortest time
            let crossing = |name: &str| {
                let material = world.material(name)?;
                let e = material[Property::YoungsModulus].range().1;
                let density = material[Property::Density].range().0;
                let body = world.body_names().iter().position(|own| own == name)? as u32;
                let of_body = |p: &Particles| {
                    let own = (0..p.len()).filter(|&i| p.body[i] == body);
                    own.map(|i| 2.0 * p.radius[i]).reduce(f64::min)
                };
                let spacing = world.particles().filter_map(of_body).reduce(f64::min)?;
                Some((spacing * (density / e).sqrt(), spacing, e, density, name.to_owned()))
            };
            let bodies = world.body_names().iter().filter_map(|name| crossing(name));
            let (_, spacing, e, density, body) = bodies.min_by(|a, b| a.0.total_cmp(&b.0))?;
            format!(
                "body \"{body}\" needs steps of {} s, since it is stiff ({} Pa), light ({} kg/m3) and finely sampled \
                 ({} m): a hundredth of `youngs_modulus` is 10 times as fast, twice the `spacing` about 16 times",
                number(limit),
                number(e),
                number(density),
                number(spacing)
            )
        }
    };
    Some(format!("the run takes about {}: {cause}", duration(seconds)))
}

fn outlook(source: &SceneSource, limit: f64, reason: &str, measured: &Measured) -> String {
    let scene = &source.scene;
    let n_particles = source.world.n_particles();
    let n_frames = scene.n_frames();
    let steps_per_frame = (1.0 / scene.frame_rate / limit).ceil().max(1.0);
    let n_floats = n_components(&source.world.columns(), &scene.output.columns);
    let disk = ((n_frames + 1) * n_particles * 4 * (6 + n_floats)) as u64;
    let seconds = expected_seconds(source, limit, measured);
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("particles", n_particles.to_string());
    row(
        "frames",
        format!("{n_frames} of {} s, {} s in all", number(1.0 / scene.frame_rate), number(scene.duration)),
    );
    let times = || scene.events.iter().map(|event| event.time);
    if !scene.events.is_empty() {
        let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        row("events", format!("{}, from {} s to {} s", scene.events.len(), number(first), number(last)));
    }
    row("time step", format!("{limit:.3e} s at the start, limited by: {reason}"));
    row("steps per frame", format!("{steps_per_frame}"));
    row(
        "expected time",
        format!(
            "{} ({:.2} ms per step measured over {} steps, {} threads)",
            duration(seconds),
            1e3 * measured.seconds_per_step,
            measured.n_steps,
            rayon::current_num_threads()
        ),
    );
    row(
        "memory",
        memory::peak().map_or_else(
            || "not known on this system".into(),
            |peak| format!("about {}", memory::shown(peak)),
        ),
    );
    row("disk", format!("about {}", memory::shown(disk)));
    table.to_string()
}

/// Returns the number of values per particle in the requested columns.
fn n_components(known: &[ColumnInfo], asked: &[String]) -> usize {
    known.iter().filter(|column| asked.iter().any(|name| name == column.name)).map(|c| c.n_components).sum()
}

fn warnings(source: &SceneSource, measured: &Measured, watch: &Watch) -> Vec<String> {
    let mut warnings = source.warnings();
    for body in source.bodies.iter().filter(|body| body.n_particles < FEW_PARTICLES) {
        warnings.push(format!(
            "body \"{}\" has only {} particles: hardly an inside",
            body.name, body.n_particles
        ));
    }
    warnings.extend(watch.warnings(|step| match step {
        0 => "the start".to_owned(),
        _ => format!("step {step}"),
    }));
    if let Some(failure) = &measured.failure {
        warnings.push(format!("the run fails {failure}"));
    }
    warnings
}

/// Formats a waiting time in a unit that suits its length.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_count_three_times() {
        let known = [
            ColumnInfo::scalar("stress", "Pa", ""),
            ColumnInfo::vector("embedded_position", "m", ""),
            ColumnInfo::vector("velocity", "m/s", ""),
        ];
        assert_eq!(n_components(&known, &["stress".into(), "embedded_position".into()]), 4);
    }

    #[test]
    fn plasticity_is_described_by_what_it_has() {
        let clay = Material::default().creeping(YieldMeasure::Deviatoric, 2e3, 40.0);
        assert_eq!(describe_flow(&clay), "yield stress 2000 Pa, flow rate 40 1/s");
        let clay = Material { flow: Flow::Creep(YieldMeasure::Total), ..clay };
        let clay = clay.with(Property::Hardening, -0.1).with(Property::ThickeningStress, 1e3);
        let text = describe_flow(&clay);
        assert!(text.ends_with(", hardening -0.1, thickening stress 1000 Pa, with pressure"), "{text}");
    }
}
