//! Writes the seeds of all targets into a folder, as the first corpus of a long run: `write_seeds FOLDER`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "corpus".into()));
    for target in phyxel_fuzz::TARGETS {
        let own = folder.join(target.name);
        std::fs::create_dir_all(&own)?;
        for (k, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(own.join(format!("seed_{k}")), seed)?;
        }
    }
    Ok(())
}
