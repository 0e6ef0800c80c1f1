//! A scene as plain data in SI units: the content of the file with defaults filled in and names resolved.
//!
//! Nothing is read from other files or simulated here; meshes are only named, and shapes are not yet filled.

pub use phyxel::contact::{Ease, Friction};
pub use phyxel::geometry::Sampling;

use crate::results::SurfaceKind;
use phyxel::math::{Mat3, Vec3};
use phyxel::methods::{MethodFactory, SettingValue};
use phyxel::surface::CarryOrder;

/// A whole scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Version of the scene format.
    pub format: u32,
    /// Title of the scene, if it has one.
    pub title: Option<String>,
    /// Method of the bodies that do not name one; `None` if every body names its own.
    pub method: Option<String>,
    /// Simulated time (s).
    pub duration: f64,
    /// Frames per simulated second (1/s).
    pub frame_rate: f64,
    /// Acceleration by gravity (m/s²).
    pub gravity: Vec3,
    /// Largest time step (s); `None` leaves it to the method.
    pub time_step: Option<f64>,
    /// True if bodies cannot pass through each other.
    pub contact: bool,
    /// Settings of the methods.
    pub methods: MethodSettings,
    /// Reaction to a run that goes wrong.
    pub on_trouble: OnTrouble,
    /// Materials in the order of the file, at least one.
    pub materials: Vec<Material>,
    /// Bodies in the order of the file, at least one.
    pub bodies: Vec<Body>,
    /// Grips in the order of the file.
    pub grips: Vec<Grip>,
    /// Obstacles in the order of the file.
    pub obstacles: Vec<Obstacle>,
    /// Forces in the order of the file.
    pub forces: Vec<Force>,
    /// Events in the order of the file, in the engine's type.
    pub events: Vec<phyxel::world::Event>,
    /// Output settings.
    pub output: Output,
}

/// Reaction to a run that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTrouble {
    /// The run goes on with a warning.
    Warn,
    /// The run ends after the frame.
    Stop,
}

impl Scene {
    /// Returns the number of frames after frame 0. The last frame is at the duration or, if that is not a whole number
    /// of frame intervals, just after it.
    pub fn n_frames(&self) -> usize {
        let frames = self.duration * self.frame_rate;
        // 0.7 s at 30 frames per second are 21 frames, whatever the last bit of the product is.
        let whole = frames.round();
        let n_frames = if (frames - whole).abs() <= 1e-9 * whole { whole } else { frames.ceil() };
        n_frames as usize
    }
}

/// Factories of all implemented methods, with the scene's settings, even of methods that the scene does not use.
#[derive(Debug, Default)]
pub struct MethodSettings(pub Vec<Box<dyn MethodFactory>>);

impl MethodSettings {
    /// Returns the factory of a method.
    pub fn of(&self, method: &str) -> Option<&dyn MethodFactory> {
        self.0.iter().find(|factory| factory.key() == method).map(|factory| &**factory)
    }

    /// Returns the value of a method's setting.
    pub fn get(&self, method: &str, key: &str) -> Option<SettingValue> {
        self.of(method)?.get(key)
    }
}

impl Clone for MethodSettings {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|factory| factory.clone_box()).collect())
    }
}

impl PartialEq for MethodSettings {
    fn eq(&self, other: &Self) -> bool {
        let values = |all: &Self| -> Vec<(String, Option<SettingValue>)> {
            let of_one = |factory: &dyn MethodFactory| {
                let value = |key: &str| (format!("{}.{key}", factory.key()), factory.get(key));
                factory.settings().iter().map(|info| value(info.key)).collect::<Vec<_>>()
            };
            all.0.iter().flat_map(|factory| of_one(&**factory)).collect()
        };
        values(self) == values(other)
    }
}

/// A material of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name of the material in the file.
    pub name: String,
    /// Preset that provides the keys which the file leaves out.
    pub based_on: Option<String>,
    /// Properties, law and flow of the material.
    pub values: phyxel::material::Material<PlacedShape>,
}

/// A scalar that may vary over a body.
pub type Varying = phyxel::material::Varying<PlacedShape>;

/// A shape around its own origin.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box with sides along the axes.
    Box {
        /// Centre (m); the origin if the box was given by its size.
        center: Vec3,
        /// Lengths of the sides (m).
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A cylinder about the y axis.
    Cylinder {
        /// Radius (m).
        radius: f64,
        /// Length along y (m).
        height: f64,
    },
    /// A cylinder about the y axis with half balls on its ends.
    Capsule {
        /// Radius (m).
        radius: f64,
        /// Length of the straight part (m).
        height: f64,
    },
    /// A cone about the y axis with its tip up, centred at half its height.
    Cone {
        /// Radius of the base (m).
        radius: f64,
        /// Length from the base to the tip (m).
        height: f64,
    },
    /// A ring about the y axis.
    Torus {
        /// Distance from the centre of the ring to the centre of the tube (m).
        radius: f64,
        /// Radius of the tube (m).
        tube_radius: f64,
    },
    /// An ellipsoid with axes along the coordinate axes.
    Ellipsoid {
        /// Half lengths of the axes (m).
        radii: Vec3,
    },
    /// A star-shaped prism about the y axis.
    Star {
        /// Number of tips.
        points: u32,
        /// Distance of the tips from the axis (m).
        radius: f64,
        /// Distance of the notches from the axis (m).
        inner_radius: f64,
        /// Length along y (m).
        height: f64,
    },
    /// All space below a plane.
    HalfSpace {
        /// Unit vector that points out of the solid half.
        normal: Vec3,
        /// Distance of the plane from the origin along the normal (m).
        offset: f64,
    },
    /// The inside of a mesh.
    Mesh {
        /// Path of the mesh file as written, relative to the scene file.
        file: String,
    },
    /// All points that are in any of the shapes.
    Union(Vec<PlacedShape>),
    /// The first shape without the others.
    Difference(Vec<PlacedShape>),
    /// All points that are in every one of the shapes.
    Intersection(Vec<PlacedShape>),
}

impl Shape {
    /// Returns true if the shape fits into some box. A mesh always does.
    pub fn is_bounded(&self) -> bool {
        let bounded = |placed: &PlacedShape| placed.shape.is_bounded();
        match self {
            Self::HalfSpace { .. } => false,
            Self::Union(shapes) => shapes.iter().all(bounded),
            Self::Difference(shapes) => shapes.first().is_some_and(bounded),
            Self::Intersection(shapes) => shapes.iter().any(bounded),
            _ => true,
        }
    }
}

/// A shape and its placement.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape around its own origin.
    pub shape: Shape,
    /// Scale, rotation and position of the shape.
    pub placement: Placement,
}

/// Placement of a shape: scale, then rotation, then translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Factor by which the shape is enlarged.
    pub scale: f64,
    /// Rotation about the origin.
    pub rotation: Rotation,
    /// Position of the shape's origin (m).
    pub position: Vec3,
}

/// A rotation about an axis. The angle may be more than a full turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// Unit vector along the axis.
    pub axis: Vec3,
    /// Angle by the right-hand rule (rad).
    pub angle: f64,
}

impl Rotation {
    /// No rotation.
    pub const NONE: Self = Self { axis: Vec3::Y, angle: 0.0 };
}

/// A body: a shape filled with particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// Method that drives the body: its own or the scene's.
    pub method: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// Number or spacing of the particles.
    pub resolution: Resolution,
    /// Arrangement of the particles.
    pub sampling: Sampling,
    /// Seed of the random numbers for irregular samplings.
    pub seed: u64,
    /// Velocity of the centre of mass at time 0 (m/s).
    pub velocity: Vec3,
    /// Angular velocity about the centre of mass at time 0 (rad/s).
    pub angular_velocity: Vec3,
    /// Coulomb's coefficient of friction against other bodies.
    pub friction: f64,
    /// True if the body is one piece with touching bodies that also fuse.
    pub fuse: bool,
    /// Surface of the body that is written, if any.
    pub surface: Option<Surface>,
}

/// A surface of a body that is written in every frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// The body's own mesh, moved by the particles.
    Mesh {
        /// Motion of vertices: by displacement only, or also by rotation and strain of the particles around them.
        order: CarryOrder,
        /// Longest edge of a shape's triangles (m); `None` uses the spacing.
        edge: Option<f64>,
        /// True if texture coordinates are required.
        uvs: bool,
    },
    /// A new skin in every frame; values that are not given are chosen where skins are made.
    Skin {
        /// Half the particle spacing that the skin assumes (m).
        radius: Option<f64>,
        /// Number of smoothing passes.
        smoothing: Option<usize>,
        /// Size of the triangles (radii).
        cell: Option<f64>,
    },
}

impl Surface {
    /// Returns the kind of the surface: mesh or skin.
    pub fn kind(&self) -> SurfaceKind {
        match self {
            Self::Mesh { .. } => SurfaceKind::Mesh,
            Self::Skin { .. } => SurfaceKind::Skin,
        }
    }
}

/// Number or spacing of the particles of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Distance between neighbouring particles (m).
    Spacing(f64),
    /// Approximate number of particles.
    Particles(usize),
    /// A spacing that changes linearly along a direction.
    SpacingAlong {
        /// Unit vector in world space.
        axis: Vec3,
        /// Spacing at the end where the axis begins (m).
        from: f64,
        /// Spacing at the end where the axis points to (m).
        to: f64,
    },
}

/// A motion: poses over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Poses in strictly increasing order of time; empty if nothing moves.
    pub keyframes: Vec<Keyframe>,
    /// Interpolation between poses.
    pub ease: Ease,
}

/// A pose at a time, relative to the pose at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// Time at which the pose is reached (s).
    pub time: f64,
    /// Displacement from the start (m).
    pub translation: Vec3,
    /// Rotation about the object's own centre at the start.
    pub rotation: Rotation,
}

/// A grip: particles of a body that are held or led.
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Index into [`Scene::bodies`].
    pub body: usize,
    /// Region in world coordinates at time 0; the particles inside are gripped.
    pub select: PlacedShape,
    /// For each of the world axes x, y, z: true if the particles are held along it.
    pub axes: [bool; 3],
    /// Motion of the particles, relative to their positions at the start.
    pub motion: Motion,
    /// Time at which the particles are released (s).
    pub release: Option<f64>,
}

/// An obstacle: a solid object that bodies collide with.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// Thickness of the wall (m), if the obstacle is hollow.
    pub shell: Option<f64>,
    /// True if bodies are kept inside the shape instead of outside.
    pub inside: bool,
    /// Friction along the surface.
    pub friction: Friction,
    /// Motion of the obstacle.
    pub motion: Motion,
}

/// A force field that acts on all bodies during an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Field of force per mass.
    pub field: ForceField,
    /// Time at which the force begins (s).
    pub from: f64,
    /// Time at which the force ends (s); `None` for never.
    pub until: Option<f64>,
}

/// Field of force per mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceField {
    /// The same acceleration everywhere (m/s²).
    Acceleration(Vec3),
    /// The acceleration matrix · (x − center).
    Linear {
        /// Acceleration per distance (1/s²).
        matrix: Mat3,
        /// Point at which the force is zero (m).
        center: Vec3,
    },
    /// Deceleration per velocity (1/s).
    Drag(f64),
}

/// Output settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Particle columns in addition to those that are always written, without repetition.
    pub columns: Vec<String>,
    /// Frames between two checkpoints.
    pub checkpoint_every: usize,
}
