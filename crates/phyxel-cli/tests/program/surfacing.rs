//! Tests of surfaces that a scene asks for: written during the run, kept when it is resumed, drawn and exported.

use crate::support::{BLOCK, Workplace, assert_same_contents, contents};
use phyxel_io::results::{ResultFolder, SurfaceKind};

/// Makes a cube of quadrangles with texture coordinates, cut into three along each edge.
fn cube_with_uvs() -> (String, Vec<[f32; 2]>) {
    let (mut text, mut faces, mut uvs) = (String::new(), String::new(), Vec::new());
    let n = 3;
    for side in 0..6 {
        for k in 0..n * n {
            let corners =
                [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[i, j]| [(k % n + i) as f32, (k / n + j) as f32]);
            faces += "f";
            for [i, j] in
                if side % 2 == 0 { corners } else { [corners[0], corners[3], corners[2], corners[1]] }
            {
                let mut p = [0.0; 3];
                (p[side / 2], p[(side / 2 + 1) % 3]) = (0.5 - (side % 2) as f32, i / n as f32 - 0.5);
                p[(side / 2 + 2) % 3] = j / n as f32 - 0.5;
                let uv = [i / n as f32 / 6.0 + side as f32 / 6.0, j / n as f32];
                text += &format!("v {} {} {}\nvt {:?} {:?}\n", p[0], p[1], p[2], uv[0], uv[1]);
                uvs.push(uv);
                faces += &format!(" {0}/{0}", uvs.len());
            }
            faces += "\n";
        }
    }
    (text + &faces, uvs)
}

fn mesh_scene() -> String {
    let body = "shape.mesh = { file = \"cube.obj\" }\nscale = 0.5\nsurface = { kind = \"mesh\", uvs = true }";
    BLOCK.replace("shape.box = { size = [0.5, 0.5, 0.5] }", body)
}

/// Returns the numbers of a constant attribute in the text of a USD file.
fn constant(usd: &str, name: &str) -> Vec<f32> {
    let text = usd.split(&format!("{name} = [")).nth(1).unwrap().split(']').next().unwrap();
    let numbers = text.split(['(', ')', ',', ' ']).filter(|word| !word.is_empty());
    numbers.map(|word| word.parse().unwrap()).collect()
}

#[test]
fn a_mesh_keeps_its_texture_coordinates_through_run_resume_and_export() {
    let place = Workplace::new(&mesh_scene());
    let (text, uvs) = cube_with_uvs();
    std::fs::write(place.path("cube.obj"), text).unwrap();
    place.succeed(&["run", "scene.toml", "-o", "whole", "--frames", "16", "-q"]);
    assert_eq!(place.info("whole").bodies[0].surface, Some(SurfaceKind::Mesh));
    place.succeed(&["run", "scene.toml", "-o", "short", "--frames", "5", "--threads", "1", "-q"]);
    std::fs::remove_file(place.path("cube.obj")).unwrap();
    place.succeed(&["resume", "short", "--frames", "16", "-q"]);
    assert_same_contents(&place.path("whole"), &place.path("short"));
    let folder = ResultFolder::open(&place.path("whole")).unwrap();
    assert_eq!(folder.surface_numbers("block").unwrap(), (0..=16).collect::<Vec<_>>());
    let [start, end] = [0, 16].map(|frame| folder.read_surface("block", frame).unwrap());
    assert_eq!((&start.uvs, &end.uvs, start.position.len()), (&uvs, &uvs, uvs.len()));
    assert_ne!(start.position, end.position);
    // corners that start at the same position stay together
    for (a, x) in start.position.iter().enumerate() {
        for b in (0..a).filter(|&b| start.position[b] == *x) {
            assert_eq!(end.position[a], end.position[b]);
        }
    }
    place.succeed(&["export", "whole", "--format", "usd", "-o", "a.usda", "-q"]);
    let usd = std::fs::read_to_string(place.path("a.usda")).unwrap();
    assert_eq!(constant(&usd, "texCoord2f[] primvars:st"), uvs.as_flattened());
    assert!(usd.contains("def Mesh \"block_surface\"") && !usd.contains("def Points"));
}

#[test]
fn shapes_have_meshes_and_skins_are_those_of_the_command() {
    let second = BLOCK.split("[[bodies]]").nth(1).unwrap().split("[[obstacles]]").next().unwrap();
    let second = second.replace("\"block\"", "\"ball\"").replace("[0, 0.35, 0]", "[2, 0.35, 0]");
    let second = second.replace("shape.box = { size = [0.5, 0.5, 0.5] }", "shape.sphere = { radius = 0.25 }");
    let scene =
        BLOCK.replace("spacing = \"10 cm\"", "spacing = \"10 cm\"\nsurface = { kind = \"mesh\" }").replace(
            "[[obstacles]]",
            &format!("[[bodies]]{second}surface = {{ kind = \"skin\", smoothing = 10 }}\n[[obstacles]]"),
        );
    let place = Workplace::new(&scene);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "6", "-q"]);
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    let kinds: Vec<_> = place.info("a").bodies.iter().map(|body| body.surface).collect();
    assert_eq!(kinds, [Some(SurfaceKind::Mesh), Some(SurfaceKind::Skin)]);
    let block = folder.read_surface("block", 6).unwrap();
    // the edges are as long as the spacing, and the cube's edges are sharp
    assert!(block.position.len() > 100 && block.corner_normals.len() == block.corners.len());
    let before = contents(&place.path("a"));
    place.succeed(&["surface", "a", "--body", "ball", "--smoothing", "10", "--force", "-q"]);
    let after = contents(&place.path("a"));
    for (name, bytes) in &before {
        assert!(after[name] == *bytes, "{name} differs");
    }
    place.succeed(&["render", "a", "-o", "a.png", "--size", "64x48", "--quality", "draft"]);
    place.succeed(&[
        "render",
        "a",
        "-o",
        "b.png",
        "--size",
        "64x48",
        "--quality",
        "draft",
        "--show",
        "particles",
    ]);
    assert_ne!(std::fs::read(place.path("a.png")).unwrap(), std::fs::read(place.path("b.png")).unwrap());
}

#[test]
fn what_is_not_there_is_said() {
    let scene = mesh_scene();
    let place = Workplace::new(&scene);
    std::fs::write(
        place.path("cube.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    )
    .unwrap();
    let refused = place.phyxel(&["run", "scene.toml", "-o", "a"]);
    assert_eq!(refused.code, Some(2));
    for word in ["scene.toml:", "has no texture coordinates", "uvs"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    assert!(!place.path("a").exists());
    // a coarse mesh gives a warning
    let coarse = scene.replace(", uvs = true", "").replace("\"10 cm\"", "\"5 cm\"");
    place.add_scene("scene.toml", &coarse);
    let warned = place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "-q"]);
    assert!(warned.stderr.contains("subdivide it"), "{}", warned.stderr);

    let bare = Workplace::new(BLOCK);
    bare.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "-q"]);
    for arguments in [
        &["export", "a", "--format", "usd", "-o", "a.usda", "--geometry", "surfaces"][..],
        &["render", "a", "-o", "a.png", "--show", "surfaces"],
    ] {
        let refused = bare.phyxel(arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}");
        assert!(
            refused.stderr.contains("has a surface") && refused.stderr.contains("phyxel surface"),
            "{}",
            refused.stderr
        );
    }
    let refused = bare.phyxel(&["export", "a", "--format", "npz", "-o", "a.npz", "--geometry", "surfaces"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("`usd`, `vtp`"), "{}", refused.stderr);
    assert!(!bare.path("a.usda").exists() && !bare.path("a.png").exists() && !bare.path("a.npz").exists());
}
