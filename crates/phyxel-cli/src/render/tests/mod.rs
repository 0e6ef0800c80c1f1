//! Tests of whole pictures: objects appear at their positions, and the bytes are the same every time.

mod models;

use phyxel::math::glam::{Vec3, vec3};

use super::*;

const WIDTH: usize = 160;
const HEIGHT: usize = 100;

fn camera_on(bounds: Bounds) -> Camera {
    Camera::framing(&bounds, &CameraOptions::default(), WIDTH as f32 / HEIGHT as f32)
}

fn unit_camera() -> Camera {
    camera_on(Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) })
}

fn red_ball(center: Vec3) -> Sphere {
    Sphere { center, radius: 0.5, color: Color::new(220, 30, 30) }
}

/// Returns the pixel at which a point of the world appears.
fn pixel_at(picture: &Picture, camera: &Camera, point: Vec3) -> [i32; 3] {
    let place = camera.project(point, picture.width as f32 / picture.height as f32).unwrap();
    let x = (0.5 + 0.5 * place.x) * picture.width as f32;
    let y = (0.5 - 0.5 * place.y) * picture.height as f32;
    picture.pixel(x as usize, y as usize).rgb.map(i32::from)
}

fn brightness(rgb: [i32; 3]) -> i32 {
    rgb.iter().sum()
}

#[test]
fn a_red_ball_in_the_middle_is_red_in_the_middle() {
    let mut stage = Stage::new(unit_camera());
    stage.spheres.push(red_ball(Vec3::ZERO));
    let picture = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    let [red, green, blue] = pixel_at(&picture, &stage.camera, Vec3::ZERO);
    assert!(red > 120 && red > 2 * green && red > 2 * blue, "{red} {green} {blue}");
    let [red, green, blue] = picture.pixel(2, 2).rgb.map(i32::from);
    assert!(
        red > 120 && (red - blue).abs() < 60 && (red - green).abs() < 60,
        "background {red} {green} {blue}"
    );
}

#[test]
fn nearer_things_hide_farther_ones() {
    let mut stage = Stage::new(unit_camera());
    let toward_eye = (stage.camera.eye - stage.camera.target).normalize();
    stage.spheres.push(Sphere { center: Vec3::ZERO, radius: 0.5, color: Color::new(30, 30, 220) });
    stage.spheres.push(Sphere { center: toward_eye, radius: 0.2, color: Color::new(220, 30, 30) });
    let [red, _, blue] = pixel_at(&render(&stage, WIDTH, HEIGHT, Quality::Draft), &stage.camera, Vec3::ZERO);
    assert!(red > blue + 50);
}

#[test]
fn the_ground_is_darker_in_the_shadow() {
    let mut stage = Stage::new(unit_camera());
    stage.ground = Some(-1.0);
    let empty = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    stage.spheres.push(red_ball(vec3(0.0, 0.2, 0.0)));
    let picture = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    let key = Studio::new(&stage.camera, HEIGHT).key_direction;
    let foot = vec3(0.0, 0.2, 0.0) - key * (1.2 / key.y);
    let (lit, shaded) = (pixel_at(&empty, &stage.camera, foot), pixel_at(&picture, &stage.camera, foot));
    assert!(brightness(shaded) < brightness(lit) * 8 / 10, "{shaded:?} in {lit:?}");
    // The shadow is soft: on the way out of it, some points have about half of it.
    let steps =
        (0..60).map(|k| brightness(pixel_at(&picture, &stage.camera, foot + Vec3::X * (0.02 * k as f32))));
    let middle = (brightness(lit) + brightness(shaded)) / 2;
    let n_between = steps.filter(|b| (b - middle).abs() < (brightness(lit) - brightness(shaded)) / 3).count();
    assert!(n_between >= 3, "{n_between} samples in the penumbra");
}

#[test]
fn folds_are_darker_than_open_places() {
    let mut stage = Stage::new(unit_camera());
    stage.spheres.push(red_ball(Vec3::ZERO));
    let open = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    stage.ground = Some(-0.5);
    let standing = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    let [right, _, forward] = stage.camera.axes();
    let low = (right * 0.3 - forward * 0.4 - Vec3::Y).normalize() * 0.5;
    let (free, near) = (pixel_at(&open, &stage.camera, low), pixel_at(&standing, &stage.camera, low));
    assert!(brightness(near) < brightness(free), "{near:?} {free:?}");
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let stage = models::everything();
    let with_threads = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| render(&stage, WIDTH, HEIGHT, Quality::Standard))
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(5));
}

#[test]
fn tiles_fit_without_seams() {
    // The same scene traced as one tile and as many.
    let stage = models::everything();
    let (scene, studio) = (Scene::new(&stage), Studio::new(&stage.camera, HEIGHT));
    let view = View::new(&stage.camera, WIDTH, HEIGHT);
    let offsets = pixel_offsets(1);
    let patterns = Patterns::new(1, studio.key_direction, KEY_SPREAD);
    let tracer =
        Tracer { scene: &scene, studio: &studio, view: &view, patterns: &patterns, offsets: &offsets };
    let whole = tracer.render(Tile { left: 0, top: 0, width: WIDTH, height: HEIGHT });
    let whole = Picture { width: WIDTH, height: HEIGHT, rgb: whole };
    for tile in tiles(WIDTH, HEIGHT) {
        let rgb = tracer.render(tile);
        let mut patched = whole.clone();
        patched.paste(&Picture { width: tile.width, height: tile.height, rgb }, tile.left, tile.top);
        assert_eq!(patched, whole);
    }
}

#[test]
fn broken_particles_are_left_out() {
    let mut stage = Stage::new(unit_camera());
    stage.ground = Some(-1.0);
    let clean = render(&stage, WIDTH, HEIGHT, Quality::Draft);
    for center in [Vec3::NAN, Vec3::INFINITY, Vec3::splat(1e30)] {
        stage.spheres.push(red_ball(center));
    }
    for radius in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        stage.spheres.push(Sphere { radius, ..red_ball(Vec3::ZERO) });
    }
    let vertices = vec![Vec3::NAN, Vec3::X, Vec3::Y];
    stage.meshes.push(Mesh { vertices, triangles: vec![[0, 1, 2], [1, 2, 7]], ..models::torus(0.5, 0.2) });
    stage.planes.push(Plane { point: Vec3::ZERO, normal: Vec3::ZERO, color: Color::OBSTACLE });
    assert_eq!(render(&stage, WIDTH, HEIGHT, Quality::Draft), clean);
}

#[test]
fn an_empty_stage_shows_the_ground_and_tiny_pictures_work() {
    let mut stage = Stage::new(Camera::framing(&Bounds::EMPTY, &CameraOptions::default(), 1.0));
    stage.ground = Some(f32::NAN);
    render(&stage, 1, 1, Quality::Fine);
    stage.ground = Some(0.0);
    stage.title = Some("title".into());
    stage.color_bar = Some(models::strain_bar());
    let picture = render(&stage, 0, 3, Quality::Draft);
    assert_eq!((picture.width, picture.height, picture.rgb.len()), (1, 3, 9));
    let ground = render(&stage, WIDTH, HEIGHT, Quality::Draft);
    assert!(ground.pixel(80, 60).rgb.iter().all(|&byte| byte > 150));
}

#[test]
fn the_ground_is_not_seen_from_below() {
    let options = CameraOptions { elevation: -30.0, ..Default::default() };
    let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
    let mut stage = Stage::new(Camera::framing(&bounds, &options, WIDTH as f32 / HEIGHT as f32));
    stage.spheres.push(red_ball(Vec3::ZERO));
    stage.ground = Some(-0.5);
    let [red, _, blue] = pixel_at(&render(&stage, WIDTH, HEIGHT, Quality::Draft), &stage.camera, Vec3::ZERO);
    assert!(red > blue + 20);
}

#[test]
fn a_mesh_looks_like_the_ball_it_stands_for() {
    let mut stage = Stage::new(unit_camera());
    stage.ground = Some(-0.5);
    stage.spheres.push(red_ball(Vec3::ZERO));
    let ball = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    stage.spheres.clear();
    stage.meshes.push(models::ball_mesh(0.5, Color::new(220, 30, 30)));
    let mesh = render(&stage, WIDTH, HEIGHT, Quality::Standard);
    let apart = |(a, b): (&u8, &u8)| f64::from(a.abs_diff(*b));
    let mean = ball.rgb.iter().zip(&mesh.rgb).map(apart).sum::<f64>() / ball.rgb.len() as f64;
    assert!(mean < 0.6, "mean difference {mean}");
}

#[test]
fn far_from_the_origin_looks_the_same() {
    let shift = vec3(4096.0, 0.0, -8192.0);
    let mut near = models::everything();
    let mut far = near.clone();
    near.title = None;
    far.title = None;
    near.ground = None;
    far.ground = None;
    far.spheres.iter_mut().for_each(|sphere| sphere.center += shift);
    far.meshes.iter_mut().flat_map(|mesh| &mut mesh.vertices).for_each(|vertex| *vertex += shift);
    far.planes.iter_mut().for_each(|plane| plane.point += shift);
    far.camera =
        Camera::look_at(near.camera.eye + shift, near.camera.target + shift, near.camera.field_of_view);
    let (near, far) =
        (render(&near, WIDTH, HEIGHT, Quality::Draft), render(&far, WIDTH, HEIGHT, Quality::Draft));
    let n_different = near.rgb.iter().zip(&far.rgb).filter(|(a, b)| a.abs_diff(**b) > 40).count();
    assert!(n_different < near.rgb.len() / 50, "{n_different} of {}", near.rgb.len());
}

#[test]
fn quality_is_read_by_name() {
    assert_eq!("fine".parse(), Ok(Quality::Fine));
    assert!("best".parse::<Quality>().unwrap_err().contains("draft, standard or fine"));
}
