//! Construction of a world from a scene: meshes are read, shapes filled and methods created. Errors are reported at
//! their place in the scene file.

use super::body_surfaces::carried_file;
use super::build::property_path;
use super::description as scene;
use super::spelling::nearest;
use super::{LARGEST_NUMBER, Problem, SceneError, SceneFile};
use crate::mesh::{self, PolygonMesh};
use crate::surface::SurfaceMesh;
use phyxel::contact::{Axes, Grip, Keyframe, Motion, Obstacle};
use phyxel::forces::{Field, ForceField};
use phyxel::geometry::{Fill, FillError, GridStore, PlacedShape, Placement, Shape, Spacing, TriangleMesh};
use phyxel::math::{Quat, Real, Vec3};
use phyxel::methods::{ColumnInfo, Refusal, find_method};
use phyxel::surface::Carried;
use phyxel::world::{Body, BuildError, World};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of a world that are not part of the scene.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Largest number of particles of all bodies together; more are refused.
    pub max_particles: usize,
    /// Clock that returns seconds, for timings of the stages.
    pub clock: Option<fn() -> Real>,
    /// Store of the distance grids of mesh obstacles, if they are to be kept between runs.
    pub grid_store: Option<Arc<dyn GridStore>>,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self { max_particles: Fill::DEFAULT_MAX_PARTICLES, clock: None, grid_store: None }
    }
}

/// A world built from a scene, with what is drawn besides its particles.
pub struct BuiltScene {
    /// World at time 0.
    pub world: World,
    /// For each body the mesh that moves with it, if the scene asks for one.
    pub surfaces: Vec<Option<SurfaceMesh>>,
    /// Obstacles' shapes at time 0 with their motion.
    pub obstacles: Vec<Obstacle>,
}

/// Mesh files of a scene, each read once.
pub(super) type Meshes = BTreeMap<String, MeshFile>;

/// Content of a mesh file.
pub(super) struct MeshFile {
    solid: Arc<TriangleMesh>,
    /// Polygons of files that bodies carry along as their surface.
    pub(super) polygons: Option<PolygonMesh>,
}

impl SceneFile {
    /// Builds the world. File paths are relative to `folder`, which contains the scene file.
    ///
    /// # Errors
    /// If something cannot be built, at its place in the scene; all unreadable meshes at once.
    pub fn build_world(&self, folder: &Path, options: &WorldOptions) -> Result<World, SceneError> {
        Ok(self.build(folder, options)?.world)
    }

    /// Builds the world as [`SceneFile::build_world`], and what is drawn besides its particles.
    ///
    /// # Errors
    /// As [`SceneFile::build_world`], or if a mesh has no texture coordinates where they are needed.
    pub fn build(&self, folder: &Path, options: &WorldOptions) -> Result<BuiltScene, SceneError> {
        let meshes = self.read_meshes(folder)?;
        let scene = &self.scene;
        let bodies: Vec<Body> = scene.bodies.iter().map(|body| self.body(body, &meshes, options)).collect();
        let obstacles: Vec<Obstacle> = scene.obstacles.iter().map(|o| convert_obstacle(o, &meshes)).collect();
        self.check_extents(&bodies, &obstacles)?;
        let surfaces = self.surface_meshes(&bodies, &meshes)?;
        let mut builder =
            World::builder().gravity(scene.gravity).time_step(scene.time_step).body_contact(scene.contact);
        for factory in &scene.methods.0 {
            builder = builder.method_factory(factory.clone_box());
        }
        if let Some(clock) = options.clock {
            builder = builder.clock(clock);
        }
        if let Some(store) = &options.grid_store {
            builder = builder.grid_store(store.clone());
        }
        for ((body, mut built), surface) in scene.bodies.iter().zip(bodies).zip(&surfaces) {
            if let (Some(surface), Some(scene::Surface::Mesh { order, .. })) = (surface, body.surface) {
                built.carried = Carried { points: surface.vertices().to_vec(), order };
            }
            builder = builder.body(built);
        }
        for grip in &scene.grips {
            builder = builder.grip(Grip {
                name: grip.name.clone(),
                body: scene.bodies[grip.body].name.clone(),
                select: placed(&grip.select, &meshes),
                motion: motion(&grip.motion),
                release: grip.release,
                axes: Axes { x: grip.axes[0], y: grip.axes[1], z: grip.axes[2] },
            });
        }
        for obstacle in &obstacles {
            builder = builder.obstacle(obstacle.clone());
        }
        for force in &scene.forces {
            let field = match force.field {
                scene::ForceField::Acceleration(a) => Field::Uniform(a),
                scene::ForceField::Linear { matrix, center } => Field::Linear { matrix, center },
                scene::ForceField::Drag(rate) => Field::Drag(rate),
            };
            builder = builder.force(ForceField {
                field,
                from: force.from,
                until: force.until.unwrap_or(Real::INFINITY),
            });
        }
        for event in &scene.events {
            builder = builder.event(event.clone());
        }
        let world = builder.build().map_err(|error| self.build_error(&error))?;
        self.check_columns(&world)?;
        Ok(BuiltScene { world, surfaces, obstacles })
    }

    /// Returns the mesh files that the scene names, each once, as written.
    pub fn mesh_files(&self) -> Vec<String> {
        let mut files: Vec<String> = self.mesh_places().into_iter().map(|(_, file)| file).collect();
        files.sort();
        files.dedup();
        files
    }

    /// Returns the obstacles' shapes at time 0 with their motion, for drawing.
    ///
    /// # Errors
    /// If a mesh cannot be read.
    pub fn obstacles(&self, folder: &Path) -> Result<Vec<Obstacle>, SceneError> {
        let meshes = self.read_meshes(folder)?;
        Ok(self.scene.obstacles.iter().map(|o| convert_obstacle(o, &meshes)).collect())
    }

    /// Refuses bodies and obstacles that reach farther than frames can hold, by their shape and placement together.
    fn check_extents(&self, bodies: &[Body], obstacles: &[Obstacle]) -> Result<(), SceneError> {
        let is_far = |shape: &PlacedShape| {
            shape
                .bounds()
                .is_some_and(|bounds| bounds.min.abs().max(bounds.max.abs()).max_element() > LARGEST_NUMBER)
        };
        let bodies = bodies.iter().enumerate().map(|(k, body)| (format!("bodies.{k}.shape"), &body.shape));
        let obstacles = obstacles.iter().enumerate().map(|(k, o)| (format!("obstacles.{k}.shape"), &o.shape));
        match bodies.chain(obstacles).find(|(_, shape)| is_far(shape)) {
            Some((path, _)) => {
                let message = format!("the shape reaches farther than {LARGEST_NUMBER:e} m from the origin");
                Err(self.error_at(&path, message, Some("lower its size, `scale` or `position`".to_owned())))
            }
            None => Ok(()),
        }
    }

    /// Returns every mesh file with the path of its key.
    fn mesh_places(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let scene = &self.scene;
        for (k, body) in scene.bodies.iter().enumerate() {
            find_meshes(&body.shape.shape, &format!("bodies.{k}.shape"), &mut found);
        }
        for (k, obstacle) in scene.obstacles.iter().enumerate() {
            find_meshes(&obstacle.shape.shape, &format!("obstacles.{k}.shape"), &mut found);
        }
        for (k, grip) in scene.grips.iter().enumerate() {
            find_meshes(&grip.select.shape, &format!("grips.{k}.select"), &mut found);
        }
        for material in &scene.materials {
            for (property, value) in material.values.scalars() {
                if let scene::Varying::Inside { region, .. } = value {
                    let path = format!("materials.{}.{}.inside", material.name, property_path(property));
                    find_meshes(&region.shape, &path, &mut found);
                }
            }
        }
        found
    }

    fn read_meshes(&self, folder: &Path) -> Result<Meshes, SceneError> {
        let (mut meshes, mut problems) = (Meshes::new(), Vec::new());
        for (path, file) in self.mesh_places() {
            if meshes.contains_key(&file) {
                continue;
            }
            match mesh::read_both(&folder.join(PathBuf::from(&file))) {
                Ok((polygons, solid)) => {
                    let is_carried = self.scene.bodies.iter().any(|body| carried_file(body) == Some(&file));
                    let polygons = is_carried.then_some(polygons);
                    meshes.insert(file, MeshFile { solid: Arc::new(solid), polygons });
                }
                Err(error) => problems.push(
                    Problem::new(self.spans.nearest(&path), error.to_string())
                        .with_help("paths are relative to the scene file"),
                ),
            }
        }
        if problems.is_empty() { Ok(meshes) } else { Err(self.error(problems)) }
    }

    fn body(&self, body: &scene::Body, meshes: &Meshes, options: &WorldOptions) -> Body {
        let material = &self.scene.materials[body.material];
        Body {
            name: body.name.clone(),
            shape: placed(&body.shape, meshes),
            fill: Fill {
                spacing: match body.resolution {
                    scene::Resolution::Spacing(a) => Spacing::Uniform(a),
                    scene::Resolution::Particles(n) => Spacing::Count(n),
                    scene::Resolution::SpacingAlong { axis, from, to } => Spacing::Along { axis, from, to },
                },
                sampling: body.sampling,
                seed: body.seed,
                max_particles: options.max_particles,
            },
            material: material.values.map_region(|shape| Box::new(placed(shape, meshes))),
            method: Some(body.method.clone()),
            velocity: body.velocity,
            angular_velocity: body.angular_velocity,
            friction: body.friction,
            fuse: body.fuse,
            carried: Carried::default(),
        }
    }

    /// Converts an error of the engine to an error at its place in the scene.
    pub(super) fn build_error(&self, error: &BuildError) -> SceneError {
        let (path, help) = match error {
            BuildError::Fill { body, source, .. } => {
                let key = match self.scene.bodies[*body].resolution {
                    scene::Resolution::Particles(_) => "particles",
                    _ => "spacing",
                };
                let too_many = matches!(source, FillError::TooMany { .. });
                let help = "the limit is for all bodies together, and what memory allows";
                (format!("bodies.{body}.{key}"), too_many.then(|| help.to_owned()))
            }
            BuildError::Method { body, .. } => {
                (body.map_or_else(String::new, |body| self.refused_by_method(body)), None)
            }
            BuildError::UnknownMethod { body, .. } => (format!("bodies.{body}.method"), None),
            BuildError::Grip { grip, .. } => {
                let help =
                    "`select` is in world coordinates at time 0 and takes particles whose centres are inside";
                (format!("grips.{grip}.select"), Some(help.to_owned()))
            }
            BuildError::TimeStep { limit, .. } => {
                let help = format!("ask for at most {limit:.3e} s, or leave `time_step` out");
                ("time_step".to_owned(), Some(help))
            }
            BuildError::Obstacle { obstacle, .. } => (format!("obstacles.{obstacle}.shape"), None),
            BuildError::Event { event, .. } => (format!("events.{event}"), None),
            BuildError::Overlap { body, .. } | BuildError::InObstacle { body, .. } => {
                (format!("bodies.{body}"), None)
            }
            BuildError::NoBodies => (String::new(), None),
        };
        self.error_at(&path, error.to_string(), help)
    }

    /// Returns the path of the key that a method refuses: the material's law or plasticity, else the body.
    fn refused_by_method(&self, body: usize) -> String {
        let scene::Body { method, material, .. } = &self.scene.bodies[body];
        let material = &self.scene.materials[*material];
        let Some(entry) = find_method(method) else { return format!("bodies.{body}.method") };
        let Some(Refusal { property: key, .. }) = entry.refusal(material.values.law, material.values.flow)
        else {
            return format!("bodies.{body}");
        };
        let path = format!("materials.{}", material.name);
        // values of a preset have no place in the file
        let own = format!("{path}.{key}");
        if self.spans.get(&own).is_some() { own } else { format!("{path}.based_on") }
    }

    /// Checks the names of the output columns. The available columns depend on the methods, so they are known only now.
    fn check_columns(&self, world: &World) -> Result<(), SceneError> {
        let known = world.columns();
        let unknown = |(k, name): (usize, &String)| {
            let path = format!("output.columns.{k}");
            let message = format!("there is no column \"{name}\"");
            (!known.iter().any(|column| column.name == name)).then(|| {
                Problem::new(self.spans.nearest(&path), message).with_help(column_help(name, &known))
            })
        };
        let problems: Vec<Problem> =
            self.scene.output.columns.iter().enumerate().filter_map(unknown).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.error(problems)) }
    }
}

/// Returns a suggestion for a column that does not exist.
fn column_help(name: &str, known: &[ColumnInfo]) -> String {
    let names = || known.iter().map(|column| column.name);
    let vector = ["_x", "_y", "_z"].iter().find_map(|ending| name.strip_suffix(ending));
    let vector = known.iter().find(|column| column.n_components == 3 && vector == Some(column.name));
    let hint = match (vector, nearest(name, names())) {
        (Some(column), _) => format!("a vector is written as a whole: ask for \"{}\"; ", column.name),
        (None, Some(near)) => format!("did you mean \"{near}\"? "),
        (None, None) => String::new(),
    };
    format!("{hint}columns here are: {}", names().collect::<Vec<_>>().join(", "))
}

fn find_meshes(shape: &scene::Shape, path: &str, found: &mut Vec<(String, String)>) {
    let mut parts = |shapes: &[scene::PlacedShape], key: &str| {
        for (k, part) in shapes.iter().enumerate() {
            find_meshes(&part.shape, &format!("{path}.{key}.{k}"), found);
        }
    };
    match shape {
        scene::Shape::Union(shapes) => parts(shapes, "union"),
        scene::Shape::Difference(shapes) => parts(shapes, "difference"),
        scene::Shape::Intersection(shapes) => parts(shapes, "intersection"),
        scene::Shape::Mesh { file } => found.push((format!("{path}.mesh.file"), file.clone())),
        _ => {}
    }
}

fn placed(shape: &scene::PlacedShape, meshes: &Meshes) -> PlacedShape {
    let p = &shape.placement;
    let rotation = Quat::from_axis_angle(p.rotation.axis, p.rotation.angle);
    let (converted, center) = convert_shape(&shape.shape, meshes);
    let position = p.position + rotation * (center * p.scale);
    PlacedShape::new(converted, Placement { scale: p.scale, rotation, position })
}

/// Returns the engine's shape about its own origin, and the position of that origin, which differs for boxes by
/// corners.
fn convert_shape(shape: &scene::Shape, meshes: &Meshes) -> (Shape, Vec3) {
    let all = |shapes: &[scene::PlacedShape]| shapes.iter().map(|s| placed(s, meshes)).collect();
    let converted = match shape {
        scene::Shape::Box { center, size } => return (Shape::Box { size: *size }, *center),
        scene::Shape::Sphere { radius } => Shape::Sphere { radius: *radius },
        scene::Shape::Cylinder { radius, height } => Shape::Cylinder { radius: *radius, height: *height },
        scene::Shape::Capsule { radius, height } => Shape::Capsule { radius: *radius, height: *height },
        scene::Shape::Cone { radius, height } => Shape::Cone { radius: *radius, height: *height },
        scene::Shape::Torus { radius, tube_radius } => {
            Shape::Torus { radius: *radius, tube_radius: *tube_radius }
        }
        scene::Shape::Ellipsoid { radii } => Shape::Ellipsoid { radii: *radii },
        scene::Shape::Star { points, radius, inner_radius, height } => Shape::Star {
            points: *points as usize,
            radius: *radius,
            inner_radius: *inner_radius,
            height: *height,
        },
        scene::Shape::HalfSpace { normal, offset } => Shape::HalfSpace { normal: *normal, offset: *offset },
        scene::Shape::Mesh { file } => Shape::Mesh(Arc::clone(&meshes[file].solid)),
        scene::Shape::Union(shapes) => Shape::Union(all(shapes)),
        scene::Shape::Difference(shapes) => Shape::Difference(all(shapes)),
        scene::Shape::Intersection(shapes) => Shape::Intersection(all(shapes)),
    };
    (converted, Vec3::ZERO)
}

fn convert_obstacle(obstacle: &scene::Obstacle, meshes: &Meshes) -> Obstacle {
    let mut shape = placed(&obstacle.shape, meshes);
    if let Some(thickness) = obstacle.shell {
        // the thickness is given at world size
        let thickness = thickness / shape.placement.scale;
        shape.shape = Shape::Shell { shape: Box::new(shape.shape), thickness };
    }
    Obstacle {
        name: obstacle.name.clone(),
        shape,
        inside: obstacle.inside,
        friction: obstacle.friction,
        motion: motion(&obstacle.motion),
    }
}

fn motion(motion: &scene::Motion) -> Motion {
    let keys = motion.keyframes.iter().map(|key| Keyframe {
        time: key.time,
        translation: key.translation,
        rotation: key.rotation.axis * key.rotation.angle,
    });
    // the validator has checked the order of the keys
    Motion::try_new(keys.collect(), motion.ease).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_columns_are_answered_with_what_was_probably_meant() {
        let known =
            [ColumnInfo::scalar("stress", "Pa", ""), ColumnInfo::vector("embedded_position", "m", "")];
        let all = "columns here are: stress, embedded_position";
        assert_eq!(column_help("heat", &known), all);
        assert_eq!(column_help("stres", &known), format!("did you mean \"stress\"? {all}"));
        let whole = format!("a vector is written as a whole: ask for \"embedded_position\"; {all}");
        assert_eq!(column_help("embedded_position_x", &known), whole);
    }
}
