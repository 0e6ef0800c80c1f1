//! Loading of a scene file into a world that can run: combines the scene format and the engine's catalogue of methods.

use crate::failure::Failure;
use crate::surfaces::Surfaces;
use crate::{clock, memory};
use phyxel::contact::Obstacle;
use phyxel::geometry::{Fill, GridStore};
use phyxel::methods::CATALOGUE;
use phyxel::world::World;
use phyxel_io::GridCache;
use phyxel_io::results::{BodyInfo, BundledScene, ContentDigest, ResultError, ResultFolder, bundle_meshes};
use phyxel_io::scene::description::{Resolution, Sampling, Scene, Varying};
use phyxel_io::scene::{
    BuiltScene, LARGEST_FILE, ParseOptions, SceneFile, WorldOptions, apply_overrides, with_method,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the number of particles that fit into memory if all are of the largest kind in the scene.
fn max_particles(scene: &Scene) -> usize {
    let sizes =
        scene.bodies.iter().filter_map(|body| Some(scene.methods.of(&body.method)?.bytes_per_particle()));
    let largest = sizes.fold(1.0, f64::max);
    let fits = memory::available().map(|bytes| (bytes as f64 / largest) as usize);
    fits.unwrap_or(Fill::DEFAULT_MAX_PARTICLES)
}

/// Length of a mesh's edges beyond which they cannot follow the matter (spacings).
const COARSE: f64 = 4.0;

/// A scene that can be run.
pub(crate) struct SceneSource {
    /// Title of the scene, or its file's name.
    pub(crate) title: String,
    /// Contents of the file.
    pub(crate) scene: Scene,
    /// Scene text as run: overrides are applied, meshes are named by content.
    pub(crate) bundle: BundledScene,
    /// Bodies with their numbers of particles.
    pub(crate) bodies: Vec<BodyInfo>,
    /// World at time 0.
    pub(crate) world: World,
    /// Surfaces that are written besides particles.
    pub(crate) surfaces: Surfaces,
    /// Obstacles, for drawing.
    pub(crate) obstacles: Vec<Obstacle>,
}

impl SceneSource {
    /// Returns the digest of the scene as run.
    pub(crate) fn digest(&self) -> ContentDigest {
        ContentDigest::of(self.bundle.text.as_bytes())
    }

    /// Returns warnings for the user before a run.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.world.warnings().to_vec();
        for (body, name, mesh) in &self.surfaces.meshes {
            let own = self.world.particles().flat_map(|p| p.body.iter().zip(&p.radius));
            let spacing =
                own.filter(|own| *own.0 as usize == *body).map(|own| 2.0 * own.1).fold(0.0, f64::max);
            let ratio = mesh.longest_edge() / spacing;
            if ratio > COARSE {
                warnings.push(format!(
                    "the mesh of body \"{name}\" has edges {ratio:.0} times as long as the spacing: its faces stay flat between \
                     their corners while the matter bends; subdivide it"
                ));
            }
        }
        warnings
    }

    /// Returns the keys of the methods, each once.
    pub(crate) fn methods(&self) -> Vec<String> {
        let mut methods: Vec<String> = Vec::new();
        for body in &self.bodies {
            if !methods.contains(&body.method) {
                methods.push(body.method.clone());
            }
        }
        methods
    }
}

/// Reads a scene file, applies overrides and builds the world.
pub(crate) fn load(path: &Path, overrides: &[(String, String)]) -> Result<SceneSource, Failure> {
    SceneText::read(path, overrides)?.build()
}

/// A scene file's text with overrides applied.
pub(crate) struct SceneText {
    path: PathBuf,
    /// Name for messages.
    name: String,
    text: String,
}

impl SceneText {
    /// Reads a scene file and applies overrides.
    pub(crate) fn read(path: &Path, overrides: &[(String, String)]) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let bytes = phyxel_io::read_file(path, LARGEST_FILE)
            .map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
        if std::str::from_utf8(&bytes).is_err() {
            // this reports the position of the invalid text
            parse_bytes(&bytes, &name)?;
        }
        let text = apply_overrides(&String::from_utf8_lossy(&bytes), &name, overrides)?;
        Ok(Self { path: path.to_owned(), name, text })
    }

    /// Returns the same scene with one method for all bodies, and the names of the bodies that had their own.
    pub(crate) fn with_method(&self, method: &str) -> Result<(Self, Vec<String>), Failure> {
        let (text, named) = with_method(&self.text, &self.name, method)?;
        Ok((Self { path: self.path.clone(), name: self.name.clone(), text }, named))
    }

    /// Parses the text.
    pub(crate) fn parse(&self) -> Result<SceneFile, Failure> {
        parse_bytes(self.text.as_bytes(), &self.name)
    }

    /// Returns the text of the file with overrides applied.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the scene: its file's name without the ending.
    pub(crate) fn stem(&self) -> String {
        scene_name(&self.path)
    }

    fn folder(&self) -> PathBuf {
        self.path.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// Builds the world.
    pub(crate) fn build(&self) -> Result<SceneSource, Failure> {
        let file = self.parse()?;
        let folder = self.folder();
        let grid_store = GridCache::of_user().map(|cache| Arc::new(cache) as Arc<dyn GridStore>);
        let max_particles = max_particles(&file.scene);
        let options = WorldOptions { clock: Some(clock::seconds), max_particles, grid_store };
        let BuiltScene { world, surfaces, obstacles } = file.build(&folder, &options)?;
        let surfaces = Surfaces::new(&file.scene, &world, surfaces);
        let title = file.scene.title.clone().unwrap_or_else(|| scene_name(&self.path));
        let bundle = bundle_meshes(&self.text, &folder);
        let bodies = body_infos(&file.scene, &world);
        Ok(SceneSource { title, bodies, scene: file.scene, bundle, world, surfaces, obstacles })
    }
}

/// Reads the obstacles of a result, for drawing; the inner error is that of a scene that this version cannot read.
///
/// # Errors
/// Fails if the scene or a mesh of it is damaged.
pub(crate) fn load_obstacles(folder: &ResultFolder) -> Result<Result<Vec<Obstacle>, Failure>, ResultError> {
    let text = folder.scene_text()?;
    let name = folder.scene_path().display().to_string();
    let parsed = parse_bytes(text.as_bytes(), &name);
    Ok(parsed.and_then(|scene| Ok(scene.obstacles(folder.path())?)))
}

/// Reads the title of a scene file, if it is valid.
pub(crate) fn title(path: &Path) -> Option<String> {
    let file = parse_bytes(&phyxel_io::read_file(path, LARGEST_FILE).ok()?, "scene").ok()?;
    Some(file.scene.title.unwrap_or_default())
}

/// Returns the name of a scene: its file's name without the ending.
pub(crate) fn scene_name(path: &Path) -> String {
    path.file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy().into_owned())
}

/// Returns the key of each method, and true if the method is built.
pub(crate) fn methods() -> Vec<(&'static str, bool)> {
    CATALOGUE.iter().map(|entry| (entry.key, entry.default_factory.is_some())).collect()
}

fn parse_bytes(bytes: &[u8], name: &str) -> Result<SceneFile, Failure> {
    Ok(SceneFile::parse_bytes(bytes, name, &ParseOptions { methods: &methods(), columns: None })?)
}

fn body_infos(scene: &Scene, world: &World) -> Vec<BodyInfo> {
    let mut n_particles = vec![0usize; scene.bodies.len()];
    for &body in world.particles().flat_map(|particles| &particles.body) {
        if let Some(count) = n_particles.get_mut(body as usize) {
            *count += 1;
        }
    }
    let info = |(body, n_particles): (&phyxel_io::scene::description::Body, usize)| BodyInfo {
        name: body.name.clone(),
        method: body.method.clone(),
        material: scene.materials[body.material].name.clone(),
        n_particles,
        surface: body.surface.map(|surface| surface.kind()),
    };
    scene.bodies.iter().zip(n_particles).map(info).collect()
}

/// Describes a parameter in words.
pub(crate) fn describe(varying: &Varying, unit: &str) -> String {
    match varying {
        Varying::Uniform(value) => format!("{} {unit}", number(*value)),
        Varying::Along { from, to, .. } => format!("{} to {} {unit}", number(*from), number(*to)),
        Varying::Inside { value, outside, .. } => {
            format!("{} or {} {unit}", number(*value), number(*outside))
        }
    }
    .trim_end()
    .to_owned()
}

/// Describes the filling of a body in words.
pub(crate) fn describe_fill(resolution: &Resolution, sampling: Sampling) -> String {
    let sampling = match sampling {
        Sampling::Lattice => "lattice",
        Sampling::Jittered => "jittered",
        Sampling::Relaxed => "relaxed",
    };
    match resolution {
        Resolution::Spacing(spacing) => format!("{} m, {sampling}", number(*spacing)),
        Resolution::Particles(_) => format!("by count, {sampling}"),
        Resolution::SpacingAlong { from, to, .. } => {
            format!("{} to {} m, {sampling}", number(*from), number(*to))
        }
    }
}

/// Formats a number with four digits, without needless zeros.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest kind of particle sets the limit, whatever the order of the bodies.
    #[test]
    fn the_limit_on_particles_is_that_of_the_largest_kind() {
        let scene = |methods: &[&str]| {
            let body = |method: &&str| {
                format!(
                    "[[bodies]]\nname = \"{method}\"\nmethod = \"{method}\"\nmaterial = \"m\"\nspacing = 0.1\n\
                     shape.box = {{ size = [1, 1, 1] }}\n"
                )
            };
            let bodies: String = methods.iter().map(body).collect();
            let material = "[materials.m]\ndensity = 1000\nyoungs_modulus = 1e5\npoisson_ratio = 0.3\n";
            let text = format!("duration = 1\n{material}{bodies}");
            parse_bytes(text.as_bytes(), "scene").unwrap().scene
        };
        let built = CATALOGUE.iter().filter_map(|e| Some((e.key, e.default_factory?().bytes_per_particle())));
        let largest = built.clone().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let smallest = built.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!(smallest.1 > 2000.0);
        let both = [largest.0, smallest.0];
        let [one, both, other] = [scene(&[smallest.0]), scene(&both), scene(&[both[1], both[0]])];
        let ratio = max_particles(&one) as f64 / max_particles(&both) as f64;
        assert!((ratio / (largest.1 / smallest.1) - 1.0).abs() < 0.2, "{ratio}");
        assert!((max_particles(&both) as f64 / max_particles(&other) as f64 - 1.0).abs() < 0.2);
    }

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> =
            [0.0, 1.0 / 30.0, 1000.0, 0.04, -12.5, 2e5, 2.5e6, 1.2345e-5].map(number).to_vec();
        assert_eq!(shown, ["0", "0.03333", "1000", "0.04", "-12.5", "200000", "2.500e6", "1.234e-5"]);
    }
}
