//! `phyxel render`: pictures and animations of a result.

mod selection;

use super::print;
use crate::coloring::{Coloring, parse_range};
use crate::failure::{Failure, warn};
use crate::render::{CameraOptions, Picture, Quality, contact_sheet, write_gif};
use crate::skins::{Rows, skin_of, table_of};
use crate::staging::Staging;
use crate::{scene_source, threads};
use clap::ValueEnum;
use phyxel_io::results::{ParticleTable, ResultFolder, RunInfo, SurfaceTable};
use phyxel_skin::SkinParams;
use selection::Selection;
pub(super) use selection::evenly_spaced;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  phyxel render out/clay -o clay.png                       the last frame
  phyxel render out/clay -o clay.png --frame 12 --color-by stress
  phyxel render out/clay -o clay.png --space embedded      as the method sees it at rest
  phyxel render out/clay -o clay.gif --every 2 --size 640x480
  phyxel render out/clay -o clay.png --sheet 9 --camera azimuth=60,elevation=10";

/// Draws a result as a picture, a contact sheet or an animation; needs no graphics card.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The result folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File to write: PNG or GIF, by its ending.
    #[arg(short, long, value_name = "OUT.png|OUT.gif")]
    output: PathBuf,
    /// One frame; the last by default.
    #[arg(long, value_name = "N", conflicts_with_all = ["every", "sheet"])]
    frame: Option<usize>,
    /// Every Nth frame, for animations.
    #[arg(long, value_name = "N", conflicts_with = "sheet", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// N moments of the run on one page.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=400))]
    sheet: Option<u32>,
    /// A column of the frames, or `body`.
    #[arg(long, value_name = "COLUMN", default_value = "body")]
    color_by: String,
    /// Values at the ends of the colours; by default the range of the values that occur.
    #[arg(long, value_name = "MIN:MAX", value_parser = parse_range, allow_hyphen_values = true)]
    range: Option<[f32; 2]>,
    /// Positions at which the particles are drawn.
    #[arg(long, value_enum, default_value_t = Space::World)]
    space: Space,
    /// Geometry drawn for bodies that have a surface; by default particles if colours are by a column.
    #[arg(long, value_enum)]
    show: Option<Show>,
    /// Size of the picture in pixels; on a sheet, of one picture.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(usize, usize)>,
    /// The view: azimuth, elevation, zoom, fov (degrees), distance (m), target=x:y:z (m); the rest is chosen.
    #[arg(long, value_name = "KEY=VALUE,...", allow_hyphen_values = true)]
    camera: Option<CameraOptions>,
    /// Quality of the picture: draft, standard or fine.
    #[arg(long, value_name = "QUALITY", default_value = "standard")]
    quality: Quality,
    /// Threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Show {
    /// The surface, as written in the frames; in embedded space a skin that is made for the picture.
    Surfaces,
    /// The particles.
    Particles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Space {
    /// Positions in the world.
    World,
    /// Positions at rest: the column embedded_position. Obstacles are not drawn.
    Embedded,
}

/// Format of the written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Gif,
}

const STILL_SIZE: (usize, usize) = (1280, 960);
const SMALL_SIZE: (usize, usize) = (480, 360);
const MOST_PIXELS: usize = 16384;

pub(super) fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let expected = || format!("a size such as 640x480 is expected, each side from 16 to {MOST_PIXELS}");
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(expected)?;
    let side = |text: &str| text.trim().parse().ok().filter(|side| (16..=MOST_PIXELS).contains(side));
    side(width).zip(side(height)).ok_or_else(expected)
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("png") => Ok(Format::Png),
        Some("gif") => Ok(Format::Gif),
        _ => Err(Failure::Usage(format!("{}: the file must end in .png or .gif", path.display()))),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let format = format_of(&args.output)?;
    let selection =
        Selection::from_args(format, args.frame, args.every, args.sheet).map_err(Failure::Usage)?;
    let folder = ResultFolder::open(&args.folder)?;
    let info = folder.run_info()?;
    let numbers = selection.pick(&folder.known_frames()?).map_err(Failure::Usage)?;
    threads::with_threads(args.threads, || {
        let mut tables =
            numbers.iter().map(|&number| folder.read_frame(number)).collect::<Result<Vec<_>, _>>()?;
        if args.space == Space::Embedded {
            tables.iter_mut().try_for_each(move_to_embedded).map_err(Failure::Usage)?;
        }
        let coloring = Coloring::new(&args.color_by, args.range, &tables).map_err(Failure::Usage)?;
        let size = args.size.unwrap_or(if selection == Selection::One(args.frame) {
            STILL_SIZE
        } else {
            SMALL_SIZE
        });
        let obstacles = match args.space {
            Space::World => scene_source::load_obstacles(&folder)?.unwrap_or_else(|_| {
                warn("the obstacles are left out: the scene of this result cannot be read by this version");
                Vec::new()
            }),
            Space::Embedded => Vec::new(),
        };
        let surfaces = surfaces(args, &folder, &info, &numbers, &tables)?;
        let camera = args.camera.unwrap_or_default();
        let aspect = coloring.clear_share() * size.0 as f32 / size.1 as f32;
        let staging = Staging::new(&tables, obstacles, &camera, aspect);
        let pictures = tables.iter().zip(&surfaces).map(|(table, surfaces)| {
            let mut stage = staging.stage(table, surfaces, &coloring);
            let is_sheet = matches!(selection, Selection::Sheet(_));
            stage.title = (!is_sheet).then(|| info.title.clone());
            stage.caption = (!is_sheet).then(|| match args.space {
                Space::World => time_label(table),
                Space::Embedded => format!("{}, embedded space", time_label(table)),
            });
            crate::render::render(&stage, size.0, size.1, args.quality)
        });
        let pictures: Vec<Picture> = pictures.collect();
        write(args, selection, &info, &tables, &pictures)?;
        print(&format!("{}\n", args.output.display()))
    })
}

/// Returns the surfaces that are drawn in each frame, with the indices of their bodies.
fn surfaces(
    args: &Args,
    folder: &ResultFolder,
    info: &RunInfo,
    numbers: &[usize],
    tables: &[ParticleTable],
) -> Result<Vec<Vec<(usize, SurfaceTable)>>, Failure> {
    let bodies: Vec<usize> = (0..info.bodies.len()).filter(|&k| info.bodies[k].surface.is_some()).collect();
    let is_plain = args.color_by == "body" && args.space == Space::World;
    let show = args.show.unwrap_or(if is_plain { Show::Surfaces } else { Show::Particles });
    if show == Show::Particles {
        return Ok(vec![Vec::new(); numbers.len()]);
    }
    if args.color_by != "body" {
        return Err(Failure::Usage("surfaces have no columns: leave --show or --color-by out".into()));
    }
    if args.space == Space::Embedded {
        let skin = |table: &ParticleTable, body: usize| {
            let skin = skin_of(Rows::of(table), body, None, &SkinParams::default())
                .map_err(|error| Failure::Run(format!("body `{}`: {error}", info.bodies[body].name)))?;
            Ok((body, table_of(skin, table.time)))
        };
        let of_frame = |table| (0..info.bodies.len()).map(|body| skin(table, body)).collect();
        return tables.iter().map(of_frame).collect();
    }
    if args.show.is_some() && bodies.is_empty() {
        let help = "ask for one in the scene (`surface` of the body), or make skins with `phyxel surface`";
        return Err(Failure::Usage(format!("no body of {} has a surface; {help}", folder.path().display())));
    }
    let of_frame = |&number: &usize| {
        let read = |&body: &usize| Ok((body, folder.read_surface(&info.bodies[body].name, number)?));
        bodies.iter().map(read).collect::<Result<Vec<_>, Failure>>()
    };
    numbers.iter().map(of_frame).collect()
}

/// Column with the embedded positions.
const EMBEDDED_POSITION: &str = "embedded_position";

/// Moves the particles to their embedded positions.
fn move_to_embedded(table: &mut ParticleTable) -> Result<(), String> {
    let Some(positions) = table.vectors(EMBEDDED_POSITION) else {
        return Err(format!(
            "--space embedded needs the column \"{EMBEDDED_POSITION}\", which the frames do not have. Add it to \
             [output] columns = [...] in the scene and run it again; the method must have this column"
        ));
    };
    table.position = positions.to_vec();
    Ok(())
}

fn time_label(table: &ParticleTable) -> String {
    format!("t = {:.3} s", table.time)
}

fn write(
    args: &Args,
    selection: Selection,
    info: &RunInfo,
    tables: &[ParticleTable],
    pictures: &[Picture],
) -> Result<(), Failure> {
    let path = &args.output;
    let failed = |error: String| Failure::Run(format!("cannot write {}: {error}", path.display()));
    match (selection, pictures) {
        (Selection::Every(every), pictures) => {
            let rate = info.frame_rate / every as f64;
            write_gif(path, pictures, rate).map_err(|error| failed(error.to_string()))
        }
        (Selection::Sheet(_), pictures) => {
            let labels: Vec<String> = tables.iter().map(time_label).collect();
            let n_columns = (pictures.len() as f64).sqrt().ceil() as usize;
            contact_sheet(pictures, &labels, n_columns)
                .write_png(path)
                .map_err(|error| failed(error.to_string()))
        }
        (Selection::One(_), [picture, ..]) => {
            picture.write_png(path).map_err(|error| failed(error.to_string()))
        }
        (Selection::One(_), []) => Err(failed("there is no frame".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_endings_are_checked() {
        assert_eq!(parse_size("640x480"), Ok((640, 480)));
        for bad in ["640", "0x480", "640x", "-3x5", "99999x99999", "axb"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        assert_eq!(format_of(Path::new("a/B.PNG")).unwrap(), Format::Png);
        assert!(format_of(Path::new("a.jpg")).is_err() && format_of(Path::new("png")).is_err());
    }
}
