//! Pictures to look at and times to read: `cargo test --release -p phyxel-cli gallery -- --ignored --nocapture` writes
//! them into the folder `phyxel_gallery` of the system's temporary directory.

use std::f32::consts::TAU;
use std::path::PathBuf;
use std::time::Instant;

use super::super::*;
use super::models::*;
use phyxel::math::glam::{Quat, Vec3, vec3};

const SIZE: [usize; 2] = [960, 540];

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join("phyxel_gallery");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn stage_of(spheres: Vec<Sphere>, options: &str) -> Stage {
    let options = options.parse().unwrap();
    let camera = Camera::framing(&bounds_of(&spheres), &options, SIZE[0] as f32 / SIZE[1] as f32);
    let mut stage = Stage::new(camera);
    stage.spheres = spheres;
    stage.ground = Some(0.0);
    stage
}

fn show(name: &str, stage: &Stage, quality: Quality) -> Picture {
    let start = Instant::now();
    let picture = render(stage, SIZE[0], SIZE[1], quality);
    println!("{name}: {} spheres, {:.3} s", stage.spheres.len(), start.elapsed().as_secs_f64());
    picture.write_png(&folder().join(format!("{name}.png"))).unwrap();
    picture
}

#[test]
#[ignore = "writes pictures to look at"]
fn gallery_stills() {
    let clay = block(12, 0.05, 0.8, |_| body_color(0));
    let mut stage = stage_of(clay.clone(), "");
    stage.title = Some("Clay block, settled".into());
    stage.caption = Some("frame 42   t = 1.40 s   1728 particles".into());
    show("a_block", &stage, Quality::Standard);
    show("a_block_draft", &stage, Quality::Draft);
    show("a_block_fine", &stage, Quality::Fine);

    let tilt = Quat::from_rotation_z(-0.35);
    let mut bodies = block(9, 0.05, 0.3, |_| body_color(1));
    bodies.iter_mut().for_each(|sphere| sphere.center += vec3(0.75, 0.0, 0.35));
    let on_slope = block(9, 0.05, 0.2, |_| body_color(2)).into_iter();
    let lifted = on_slope.map(|s| Sphere { center: tilt * s.center + vec3(-0.45, 0.31, -0.2), ..s });
    bodies.extend(lifted);
    let mut stage = stage_of(bodies, "");
    let slope = Plane { point: vec3(-0.45, 0.31, -0.2), normal: tilt * Vec3::Y, color: Color::OBSTACLE };
    stage.planes.push(slope);
    stage.title = Some("Two bodies, one on a slope".into());
    show("b_slope", &stage, Quality::Standard);

    let bar = strain_bar();
    let by_strain = |rest: Vec3| bar.map.color_by(13.0 * (1.0 - rest.y / 0.6), bar.min, bar.max);
    let mut stage = stage_of(block(12, 0.05, 0.8, by_strain), "azimuth=-35,elevation=25");
    stage.color_bar = Some(strain_bar());
    stage.title = Some("Coloured by plastic strain".into());
    show("c_scalar", &stage, Quality::Standard);
    let by_stress = |rest: Vec3| ColorMap::Diverging.color_by(rest.x, -0.3, 0.3);
    stage.spheres = block(12, 0.05, 0.8, by_stress);
    let (label, unit) = ("stress".into(), "Pa".into());
    stage.color_bar = Some(ColorBar { label, unit, min: -2.4e6, max: 2.4e6, map: ColorMap::Diverging });
    show("c_diverging", &stage, Quality::Standard);

    let mut stage = Stage::new(Camera::framing(
        &Bounds { min: vec3(-0.7, 0.0, -0.7), max: vec3(0.9, 0.6, 0.7) },
        &CameraOptions::default(),
        16.0 / 9.0,
    ));
    stage.ground = Some(0.0);
    let mut ring = torus(0.4, 0.15);
    ring.vertices.iter_mut().for_each(|v| *v = Quat::from_rotation_x(0.35) * *v + vec3(0.0, 0.33, 0.0));
    stage.meshes = vec![ring, box_mesh(vec3(0.65, 0.0, -0.4), vec3(0.9, 0.4, 0.1))];
    stage.title = Some("Torus and box".into());
    show("e_torus", &stage, Quality::Standard);

    let mut stage = stage_of(Vec::new(), "elevation=8");
    stage.title = Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 µνρσεηλΔ °·×±".into());
    stage.caption =
        Some("abcdefghijklmnopqrstuvwxyz .,:;!?'\"`()[]{}<>=+-*/\\|~^#$%&@_ m²/s³ 10⁻⁶ —…".into());
    show("f_empty_and_font", &stage, Quality::Standard);
}

#[test]
#[ignore = "writes pictures to look at"]
fn gallery_sheet_and_animation() {
    let all = bounds_of(&block(10, 0.05, 0.0, |_| body_color(0)));
    let all = all.union(bounds_of(&block(10, 0.05, 1.0, |_| body_color(0))));
    let frame = |share: f32| {
        let camera = Camera::framing(&all, &CameraOptions::default(), 1.6);
        let mut stage = Stage::new(camera);
        stage.ground = Some(0.0);
        stage.spheres = block(10, 0.05, share, |rest| body_color(usize::from(rest.x > 0.0)));
        stage.caption = Some(format!("t = {share:.2} s"));
        render(&stage, 480, 300, Quality::Standard)
    };
    let six: Vec<Picture> = (0..6).map(|k| frame(k as f32 / 5.0)).collect();
    let labels: Vec<String> =
        (0..6).map(|k| format!("frame {:>3}   t = {:.1} s", 6 * k, k as f32 * 0.2)).collect();
    contact_sheet(&six, &labels, 3).write_png(&folder().join("d_sheet.png")).unwrap();
    let start = Instant::now();
    let pictures: Vec<Picture> = (0..30).map(|k| frame(0.5 - 0.5 * (k as f32 / 30.0 * TAU).cos())).collect();
    let rendered = start.elapsed().as_secs_f64();
    let path = folder().join("g_animation.gif");
    write_gif(&path, &pictures, 30.0).unwrap();
    let written = start.elapsed().as_secs_f64() - rendered;
    let size = std::fs::metadata(&path).unwrap().len();
    println!("30 frames of 480x300: rendered {rendered:.2} s, written {written:.2} s, {size} bytes");
}

#[test]
#[ignore = "prints times"]
fn gallery_speed() {
    show("h_speed_empty", &stage_of(Vec::new(), ""), Quality::Standard);
    for n in [27, 46] {
        let stage = stage_of(block(n, 0.6 / n as f32, 0.7, |rest| body_color(usize::from(rest.x > 0.0))), "");
        for (name, quality) in [("draft", Quality::Draft), ("standard", Quality::Standard)] {
            show(&format!("h_speed_{n}_{name}"), &stage, quality);
        }
    }
}
