//! `phyxel surface`: skins of the finished frames of a result.

use super::print;
use crate::failure::{Failure, warn};
use crate::progress::{Progress, Verbosity};
use crate::scene_source::number;
use crate::skins::{Rows, Shares, skin_of, table_of};
use crate::{clock, interrupt, memory, threads};
use phyxel_io::export::{ExportError, FrameRange, FrameSelection};
use phyxel_io::results::{ResultError, ResultFolder, SurfaceKind};
use phyxel_io::scene::{Dimension, listed, nearest, parse_quantity};
use phyxel_skin::{SkinError, SkinParams};
use std::fs;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel surface out/clay                             all bodies, all frames
  phyxel surface out/clay --body bar --frames 10..40  one body, some frames
  phyxel surface out/clay --smoothing 50 --force      smoother; replaces earlier skins
  phyxel surface out/clay --radius '6 mm' --cell 0.5  for particles at 12 mm from each other; finer triangles

The skins are DIR/frames/surface_BODY_0000.ply; `render` draws them, `export` writes them for other programs.";

/// Puts skins around the particles of finished frames: closed surfaces with the volume of the particles.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The result folder; no run may be writing to it.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only this body; may be given several times. All bodies by default.
    #[arg(long, value_name = "NAME")]
    body: Vec<String>,
    /// Frames A to B, both included; A.., ..B or one number, too. All by default; frame 0 is the start.
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    frames: Option<FrameRange>,
    /// One radius for all particles, half their spacing, in metres or with a unit. By default each has its own.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// Passes of smoothing; 0 leaves the lumps.
    #[arg(long, value_name = "N", default_value_t = SkinParams::default().smoothing)]
    smoothing: usize,
    /// Size of the triangles, in radii: 0.2 to 2. Half as much takes four to eight times as long.
    #[arg(long, value_name = "X", allow_hyphen_values = true, default_value_t = SkinParams::default().cell)]
    cell: f64,
    /// Threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Replaces earlier surfaces.
    #[arg(long)]
    force: bool,
    /// Shows nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

fn parse_range(text: &str) -> Result<FrameRange, String> {
    text.parse().map_err(|error: ExportError| error.to_string())
}

fn parse_length(text: &str) -> Result<f64, String> {
    let value = match text.trim().parse() {
        Ok(value) => value,
        Err(_) => parse_quantity(text, Dimension::LENGTH).map_err(|error| error.to_string())?,
    };
    if value > 0.0 && f64::is_finite(value) { Ok(value) } else { Err("it must be greater than 0".into()) }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = ResultFolder::open_to_write(&args.folder)?;
    let frames = FrameSelection::open(&folder, args.frames.unwrap_or_default())?;
    let bodies = chosen(args, &frames)?;
    check_free(args, &folder, &frames, &bodies)?;
    interrupt::listen()?;
    let replaces = replaces(&folder, &frames, &bodies)?;
    let work = Work { args, folder: &folder, frames: &frames, bodies, replaces };
    let started = clock::seconds();
    let done = threads::with_threads(args.threads, || work.skin_all());
    if done.is_err() && replaces {
        folder.remove_unfinished()?;
    }
    let done = done?;
    if args.quiet {
        return Ok(());
    }
    if !frames.has_velocities() {
        warn(
            "the frames have no velocities, so that other programs cannot blur motion: add \"velocity\" to [output] \
             columns = [...] in the scene and run it again",
        );
    }
    if let Some((part, frame, body)) = &done.worst_volume {
        warn(&format!(
            "the skin of `{body}` in frame {frame} has {:.0} % of the particles' volume: they lie closer together than at rest, \
             and the skin was moved out by no more than their radius",
            100.0 * part
        ));
    }
    print(&done.summary(&work, clock::seconds() - started))
}

/// Returns the indices of the requested bodies, each once.
fn chosen(args: &Args, frames: &FrameSelection<'_>) -> Result<Vec<usize>, Failure> {
    if args.body.is_empty() {
        return Ok((0..frames.body_names().len()).collect());
    }
    let place = |name: &String| {
        frames.body_names().position(|body| body == name).ok_or_else(|| {
            let guess = nearest(name, frames.body_names());
            let guess = guess.map_or_else(String::new, |guess| format!(": did you mean `{guess}`?"));
            let there = listed(frames.body_names(), "and");
            Failure::Usage(format!("there is no body `{name}`{guess}\n  the result has {there}"))
        })
    };
    let mut bodies = args.body.iter().map(place).collect::<Result<Vec<usize>, Failure>>()?;
    bodies.sort_unstable();
    bodies.dedup();
    Ok(bodies)
}

/// Checks that no existing surface would be overwritten without permission.
fn check_free(
    args: &Args,
    folder: &ResultFolder,
    frames: &FrameSelection<'_>,
    bodies: &[usize],
) -> Result<(), Failure> {
    for body in bodies.iter().map(|&body| &frames.info().bodies[body]) {
        let name = &body.name;
        let there = folder.surface_numbers(name)?;
        let has_mesh = body.surface == Some(SurfaceKind::Mesh) && !there.is_empty();
        if has_mesh && !args.force {
            return Err(Failure::Usage(format!(
                "body `{name}` has a mesh of its own in the frames\n  keep it:     choose other bodies with --body\n  \
                 replace it:  add --force"
            )));
        }
        if has_mesh && there.iter().any(|frame| !frames.numbers().contains(frame)) {
            return Err(Failure::Usage(format!(
                "body `{name}` has a mesh of its own in other frames, too\n  replace all of them:  leave --frames out"
            )));
        }
        if let Some(&frame) = there.iter().find(|frame| frames.numbers().contains(frame))
            && !args.force
        {
            return Err(Failure::Usage(format!(
                "{} exists already\n  replace it:  add --force\n  keep it:     choose other frames with --frames",
                folder.surface_path(name, frame).display()
            )));
        }
    }
    Ok(())
}

/// Returns true if there are earlier surfaces of the bodies in these frames.
fn replaces(
    folder: &ResultFolder,
    frames: &FrameSelection<'_>,
    bodies: &[usize],
) -> Result<bool, ResultError> {
    for &body in bodies {
        let there = folder.surface_numbers(&frames.info().bodies[body].name)?;
        if there.iter().any(|frame| frames.numbers().contains(frame)) {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Work<'a> {
    args: &'a Args,
    folder: &'a ResultFolder,
    frames: &'a FrameSelection<'a>,
    /// Indices of the bodies.
    bodies: Vec<usize>,
    /// True if there are earlier surfaces, which stay until all new ones are made.
    replaces: bool,
}

/// Results of the work so far.
#[derive(Default)]
struct Done {
    n_skins: usize,
    n_bytes: u64,
    last_triangles: usize,
    /// Largest number of strays in one frame: number, frame, body.
    strays: Option<(usize, usize, String)>,
    /// Volume that differs most from that of the particles: ratio to it, frame, body.
    worst_volume: Option<(f64, usize, String)>,
}

/// Relative difference of a skin's volume above which the user is warned.
const VOLUME_DOUBT: f64 = 0.03;

impl Work<'_> {
    fn skin_all(&self) -> Result<Done, Failure> {
        let Self { args, folder, frames, .. } = self;
        let SkinParams { iso, .. } = SkinParams::default();
        let params = SkinParams { radius: args.radius, smoothing: args.smoothing, cell: args.cell, iso };
        let all = FrameSelection::open(folder, FrameRange::default())?;
        let start = all.frame(*all.numbers().start())?.particles;
        let shares = Shares::new(Rows::of(&start), frames.body_names().len());
        let together = folder.ledger()?.numbers("volume").unwrap_or_default();
        let verbosity = Verbosity::from_flags(args.quiet, false);
        let progress = Progress::new(0, frames.n_frames(), verbosity, "skinning");
        let mut done = Done::default();
        for (k, frame) in frames.numbers().enumerate() {
            let volume = |body: usize| shares.volume(body, together.get(frame).copied());
            let ended = self.skin_frame(frame, &params, volume, &mut done);
            progress.drawn(k + 1);
            let interrupted = interrupt::requested() && k + 1 < frames.n_frames();
            if ended.is_err() || interrupted {
                progress.finish();
            }
            ended?;
            if interrupted && self.replaces {
                return Err(Failure::Interrupted("interrupted; the earlier surfaces are kept".into()));
            }
            if interrupted {
                return Err(Failure::Interrupted(format!(
                    "interrupted after frame {frame}; what is there is whole\n  go on:  --frames {}..{}",
                    frame + 1,
                    frames.numbers().end()
                )));
            }
        }
        progress.finish();
        if self.replaces {
            self.replace_all()?;
        }
        Ok(done)
    }

    /// Makes the skins of all bodies of a frame; all are computed before the first is written. If the skins of the
    /// first frame or `run.json` cannot be written, the skins of this frame are removed.
    fn skin_frame(
        &self,
        frame: usize,
        params: &SkinParams,
        volume: impl Fn(usize) -> Option<f64>,
        done: &mut Done,
    ) -> Result<(), Failure> {
        let is_first = frame == *self.frames.numbers().start();
        let selected = self.frames.frame(frame)?;
        let mut tables = Vec::with_capacity(self.bodies.len());
        for &body in &self.bodies {
            let name = &self.frames.info().bodies[body].name;
            let skin = skin_of(Rows::of(&selected.particles), body, volume(body), params)
                .map_err(|error| self.failure(name, frame, &error))?;
            if skin.n_strays > done.strays.as_ref().map_or(0, |strays| strays.0) {
                done.strays = Some((skin.n_strays, frame, name.clone()));
            }
            let part = skin.volume / skin.wanted_volume;
            if (part - 1.0).abs()
                > done.worst_volume.as_ref().map_or(VOLUME_DOUBT, |worst| (worst.0 - 1.0).abs())
            {
                done.worst_volume = Some((part, frame, name.clone()));
            }
            tables.push((name, table_of(skin, selected.time)));
        }
        let write = || -> Result<(), ResultError> {
            for (name, table) in &tables {
                match self.replaces {
                    true => self.folder.prepare_surface(name, frame, table)?,
                    false => self.folder.write_surface(name, frame, table)?,
                }
            }
            // done in the first frame, as soon as there are skins
            if is_first && !self.replaces { self.tell_the_run() } else { Ok(()) }
        };
        write().inspect_err(|_| {
            for (name, _) in tables.iter().filter(|_| is_first && !self.replaces) {
                let _ = fs::remove_file(self.folder.surface_path(name, frame));
            }
        })?;
        for (name, table) in &tables {
            done.n_skins += 1;
            done.last_triangles = table.face_sizes.len();
            let path = self.folder.surface_path(name, frame);
            let written = if self.replaces { ResultFolder::prepared_path(&path) } else { path };
            done.n_bytes += fs::metadata(written).map_or(0, |file| file.len());
        }
        Ok(())
    }

    /// Puts the new surfaces into the places of the earlier ones.
    fn replace_all(&self) -> Result<(), ResultError> {
        self.tell_the_run()?;
        for frame in self.frames.numbers() {
            for &body in &self.bodies {
                self.folder.take_prepared_surface(&self.frames.info().bodies[body].name, frame)?;
            }
        }
        Ok(())
    }

    /// Writes into `run.json` that there are skins.
    fn tell_the_run(&self) -> Result<(), ResultError> {
        let mut info = self.folder.run_info()?;
        for &body in &self.bodies {
            info.bodies[body].surface = Some(SurfaceKind::Skin);
        }
        self.folder.write_run_info(&info)
    }

    fn failure(&self, body: &str, frame: usize, error: &SkinError) -> Failure {
        let text = format!("body `{body}`, frame {frame}: {error}");
        match error {
            SkinError::Parameter { .. } => Failure::Usage(error.to_string()),
            SkinError::TooFewParticles { .. } if frame == *self.frames.numbers().start() => {
                Failure::Usage(format!("{text}\n  other bodies:  choose them with --body"))
            }
            _ => Failure::Run(text),
        }
    }
}

impl Done {
    fn summary(&self, work: &Work<'_>, seconds: f64) -> String {
        let names = work.bodies.iter().map(|&body| work.frames.info().bodies[body].name.as_str());
        let bodies = if names.len() > 3 { format!("{} bodies", names.len()) } else { listed(names, "and") };
        let (first, last) = work.frames.numbers().into_inner();
        let frames =
            if first == last { format!("frame {first}") } else { format!("frames {first} to {last}") };
        let skins = if self.n_skins == 1 { "skin" } else { "skins" };
        let mut text = format!(
            "{}: {} {skins} of {}, {frames}, {} triangles in the last, {}; {} s, {} s each\n",
            work.folder.path().join("frames").display(),
            self.n_skins,
            bodies,
            self.last_triangles,
            memory::shown(self.n_bytes),
            number(seconds),
            number(seconds / self.n_skins as f64),
        );
        if let Some((n, frame, body)) = &self.strays {
            text += &format!("strays left out: at most {n}, of {body} in frame {frame}\n");
        }
        text
    }
}
