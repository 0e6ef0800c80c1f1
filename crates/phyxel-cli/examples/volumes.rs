//! Prints volume estimates for all frames of a result as a CSV table: those of the ledger, and the volumes of closed
//! skins that are not fitted to a volume, in world space and, if frames have the column `embedded_position`, in
//! embedded space.
//!
//! ```text
//! cargo run --release -p phyxel-cli --example volumes -- out/fig5 > volumes.csv
//! ```

use phyxel_io::results::{ParticleTable, ResultFolder};
use phyxel_skin::{Matter, SkinParams, skin};
use std::error::Error;
use std::path::Path;

/// Columns of the ledger that are copied, if it has them.
const ESTIMATES: [&str; 3] = ["volume", "volume_sph", "volume_moments"];

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a result folder is expected")?;
    let folder = ResultFolder::open(Path::new(&path))?;
    let ledger = folder.ledger()?;
    let known: Vec<(&str, Vec<f64>)> =
        ESTIMATES.iter().filter_map(|&name| Some((name, ledger.numbers(name)?))).collect();
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    println!("time,{},skin,skin_embedded", names.join(","));
    for number in folder.frame_numbers()? {
        let frame = folder.read_frame(number)?;
        let estimates: Vec<String> = known
            .iter()
            .map(|(_, values)| values.get(number).map_or_else(String::new, f64::to_string))
            .collect();
        let world = skin_volume(&frame.position, &frame)?;
        let embedded = match frame.vectors("embedded_position") {
            Some(positions) => skin_volume(positions, &frame)?.to_string(),
            None => String::new(),
        };
        println!("{},{},{world},{embedded}", frame.time, estimates.join(","));
    }
    Ok(())
}

/// Returns the volume of one skin around all particles, placed by their density (m³).
fn skin_volume(positions: &[[f32; 3]], frame: &ParticleTable) -> Result<f64, Box<dyn Error>> {
    Ok(skin(&Matter::new(positions, &frame.radius), &SkinParams::default())?.volume)
}
