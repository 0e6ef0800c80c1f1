//! Skins of many bodies: volume, defects and time. `cargo run --release -p phyxel-skin --example measure`
//! With the name of a folder, an OBJ of each skin is written there.

#[path = "../tests/bodies/mod.rs"]
mod bodies;

use bodies::{catalogue, defects, volume};
use phyxel_skin::{Matter, SkinParams, skin};
use std::fmt::Write as _;
use std::time::Instant;

fn main() {
    let folder = std::env::args().nth(1);
    let params = SkinParams { smoothing: std::env::var("N").map_or(25, |t| t.parse().unwrap()), ..SkinParams::default() };
    let only = std::env::var("ONLY").ok();
    println!("particles  vertices  found  smooth  fitted  offset/radius  seconds  body");
    for (name, body) in catalogue() {
        if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) { continue; }
        let unfitted = Matter { volume: None, ..body.matter() };
        let raw = skin(&unfitted, &SkinParams { smoothing: 0, ..params }).unwrap();
        let start = Instant::now();
        let skin = skin(&body.matter(), &params).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let restored = phyxel_skin::skin(&unfitted, &params).unwrap();
        println!(
            "{:9}  {:8}  {:5.3}  {:6.3}  {:6.3}  {:13.3}  {seconds:7.3}  {name} {:?} strays {} restoring {:.3}",
            body.positions.len(),
            skin.vertices.len(),
            raw.volume / body.volume,
            restored.volume / body.volume,
            volume(&skin) / body.volume,
            skin.offset / skin.radius,
            defects(&skin),
            skin.n_strays,
            restored.offset / restored.radius,
        );
        let top: Vec<f32> = skin.vertices.iter().filter(|v| v[0].abs() < 0.6 && v[2].abs() < 0.6 && v[1] > 0.2).map(|v| v[1]).collect();
        let mean = top.iter().sum::<f32>() / top.len() as f32;
        let sd = (top.iter().map(|y| (y - mean).powi(2)).sum::<f32>() / top.len() as f32).sqrt();
        println!("    top {mean:.4} rough {sd:.4}");
        if let Some(folder) = &folder {
            let mut text = String::new();
            for v in &skin.vertices {
                let _ = writeln!(text, "v {} {} {}", v[0], v[1], v[2]);
            }
            for t in &skin.triangles {
                let _ = writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
            }
            let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            std::fs::write(format!("{folder}/{file}.obj"), text).unwrap();
        }
    }
}
