//! `phyxel verify`: reads every file of a result and names what is damaged.

use super::print;
use crate::failure::Failure;
use crate::memory;
use phyxel_io::results::{Damage, Part, ResultFolder, Verification};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel verify out/clay    says what is damaged, and how to make it whole again

Every file of a result carries a checksum or is named by one. `view`, `render`, `export`, `surface` and `resume` check what they
read; this command reads everything.";

/// Checks every file of a result: frames, surfaces, ledger, checkpoints, scene, meshes and metadata.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The result folder; its run may still be going on.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Shows nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = ResultFolder::open(&args.folder)?;
    let mut verification = folder.verify()?;
    let Verification { n_files, n_bytes, damages, .. } = &verification;
    let folder_name = args.folder.display();
    if damages.is_empty() {
        let text = format!("{folder_name}: {n_files} files, {}, all whole\n", memory::shown(*n_bytes));
        return if args.quiet { Ok(()) } else { print(&text) };
    }
    let n_files =
        if damages.len() == 1 { "1 file is".into() } else { format!("{} files are", damages.len()) };
    let mut text = format!("{n_files} damaged or missing");
    damages.iter().for_each(|damage| text += &format!("\n  {}", damage.error));
    remedies(&folder, &mut verification).iter().for_each(|remedy| text += &format!("\n{remedy}"));
    Err(Failure::Run(text))
}

/// Returns what to do about the damages, a line each.
fn remedies(folder: &ResultFolder, verification: &mut Verification) -> Vec<String> {
    let name = folder.path().display();
    let has = |is: fn(&Part) -> bool| verification.damages.iter().any(|Damage { part, .. }| is(part));
    let made_afterwards = |part: &Part| matches!(part, Part::Surface { is_of_run: false, .. });
    if has(|part| matches!(part, Part::Scene | Part::Mesh)) {
        return vec![
            "  the scene and its meshes are needed to compute anything again: put the original files back,"
                .into(),
            "  or run the scene anew:  phyxel run SCENE.toml --force".into(),
        ];
    }
    let mut lines = Vec::new();
    if has(made_afterwards) {
        lines.push(format!("  make the surfaces again:  phyxel surface {name} --force"));
    }
    let is_computed = |part: &Part| !matches!(part, Part::Surface { is_of_run: false, .. });
    if has(is_computed) {
        lines.push(match folder.start(verification) {
            Ok(Some((frame, _))) => {
                format!("  compute what follows frame {frame} again:  phyxel resume {name}")
            }
            Ok(None) => format!("  start the run:  phyxel resume {name}"),
            Err(_) if verification.scene_digest.is_some() => {
                format!("  compute all frames again:  phyxel resume {name} --from-start")
            }
            Err(_) => "  run the scene anew:  phyxel run SCENE.toml --force".into(),
        });
    }
    lines
}
