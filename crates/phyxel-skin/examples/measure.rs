//! Skins of many bodies: volume, defects and time. `cargo run --release -p phyxel-skin --example measure`
//! With the name of a folder, an OBJ of each skin is written there.

#[path = "../tests/bodies/mod.rs"]
mod bodies;

use bodies::{Particles, catalogue, defects, volume};
use phyxel::geometry::Sampling;
use phyxel_skin::{Matter, SkinParams, skin};
use std::fmt::Write as _;
use std::time::Instant;

fn main() {
    let folder = std::env::args().nth(1);
    let params = SkinParams::default();
    println!("particles  vertices  found  fitted  offset/radius  seconds  body");
    let large = ("cube 37³, jittered", Particles::cube(37, Sampling::Jittered));
    for (name, body) in catalogue().into_iter().chain([large]) {
        let unfitted = Matter { volume: None, ..body.matter() };
        let raw = skin(&unfitted, &SkinParams { smoothing: 0, ..params }).unwrap();
        let start = Instant::now();
        let skin = skin(&body.matter(), &params).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:9}  {:8}  {:5.3}  {:6.3}  {:13.3}  {seconds:7.3}  {name}",
            body.positions.len(),
            skin.vertices.len(),
            raw.volume / body.volume,
            volume(&skin) / body.volume,
            skin.offset,
        );
        assert_eq!(defects(&skin), Default::default());
        if let Some(folder) = &folder {
            let mut text = String::new();
            for v in &skin.vertices {
                let _ = writeln!(text, "v {} {} {}", v[0], v[1], v[2]);
            }
            for t in &skin.triangles {
                let _ = writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
            }
            let file: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            std::fs::write(format!("{folder}/{file}.obj"), text).unwrap();
        }
    }
}
