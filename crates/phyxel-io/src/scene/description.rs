//! A scene as plain data in SI: what the file says, with defaults filled in and names resolved.
//!
//! Nothing here is read from other files or simulated; meshes are named, shapes are not yet filled.

use crate::results::SurfaceKind;
use phyxel::math::{Mat3, Vec3};
use phyxel::methods::{MethodFactory, SettingValue};
use phyxel::surface::CarryOrder;

/// A whole scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Version of the scene format.
    pub format: u32,
    /// What the scene shows, if it says so.
    pub title: Option<String>,
    /// Method of the bodies that name none; absent when every body names its own.
    pub method: Option<String>,
    /// Simulated time, in s.
    pub duration: f64,
    /// Frames per simulated second, in 1/s.
    pub frame_rate: f64,
    /// Acceleration by gravity, in m/s².
    pub gravity: Vec3,
    /// Largest time step, in s; `None` leaves it to the method.
    pub time_step: Option<f64>,
    /// Whether bodies keep out of each other.
    pub contact: bool,
    /// Settings of the methods.
    pub methods: MethodSettings,
    /// In the order of the file, at least one.
    pub materials: Vec<Material>,
    /// In the order of the file, at least one.
    pub bodies: Vec<Body>,
    /// In the order of the file.
    pub grips: Vec<Grip>,
    /// In the order of the file.
    pub obstacles: Vec<Obstacle>,
    /// In the order of the file.
    pub forces: Vec<Force>,
    /// In the order of the file: the engine's own.
    pub events: Vec<phyxel::world::Event>,
    /// What is written.
    pub output: Output,
}

impl Scene {
    /// Number of frames after frame 0: the last one is at the duration or, if that is no whole number of frame
    /// intervals, just after it.
    pub fn n_frames(&self) -> usize {
        let frames = self.duration * self.frame_rate;
        // 0.7 s at 30 frames per second is 21 frames, whatever the product's last bit says.
        let whole = frames.round();
        let n_frames = if (frames - whole).abs() <= 1e-9 * whole { whole } else { frames.ceil() };
        n_frames as usize
    }
}

/// Factories of all methods that are built, with the scene's settings, whether it uses them or not.
#[derive(Debug, Default)]
pub struct MethodSettings(pub Vec<Box<dyn MethodFactory>>);

impl MethodSettings {
    /// The factory of a method.
    pub fn of(&self, method: &str) -> Option<&dyn MethodFactory> {
        self.0.iter().find(|factory| factory.key() == method).map(|factory| &**factory)
    }

    /// The value of a method's setting.
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

/// What bodies are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file.
    pub name: String,
    /// Preset that gave what the file leaves out.
    pub based_on: Option<String>,
    /// Its properties, law and flow.
    pub values: phyxel::material::Material<PlacedShape>,
}

/// A scalar that may vary over a body.
pub type Varying = phyxel::material::Varying<PlacedShape>;

/// A shape around its own origin.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Sides along the axes.
    Box {
        /// Centre, in m; the origin if the box was given by its size.
        center: Vec3,
        /// Lengths of the sides, in m.
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius, in m.
        radius: f64,
    },
    /// About the y axis.
    Cylinder {
        /// Radius, in m.
        radius: f64,
        /// Length along y, in m.
        height: f64,
    },
    /// About the y axis, with half balls on its ends.
    Capsule {
        /// Radius, in m.
        radius: f64,
        /// Length of the straight part, in m.
        height: f64,
    },
    /// About the y axis, tip up, centred at half its height.
    Cone {
        /// Radius of the base, in m.
        radius: f64,
        /// From the base to the tip, in m.
        height: f64,
    },
    /// About the y axis.
    Torus {
        /// From the centre of the ring to the centre of the tube, in m.
        radius: f64,
        /// Radius of the tube, in m.
        tube_radius: f64,
    },
    /// Axes along the coordinate axes.
    Ellipsoid {
        /// Half lengths, in m.
        radii: Vec3,
    },
    /// A star-shaped prism about the y axis.
    Star {
        /// Number of tips.
        points: u32,
        /// Distance of the tips from the axis, in m.
        radius: f64,
        /// Distance of the notches from the axis, in m.
        inner_radius: f64,
        /// Length along y, in m.
        height: f64,
    },
    /// Solid below a plane.
    HalfSpace {
        /// Unit vector out of the solid half.
        normal: Vec3,
        /// Distance of the plane from the origin along the normal, in m.
        offset: f64,
    },
    /// The inside of a mesh.
    Mesh {
        /// Path as written, relative to the scene file.
        file: String,
    },
    /// All that is in any of the shapes.
    Union(Vec<PlacedShape>),
    /// The first shape without the others.
    Difference(Vec<PlacedShape>),
    /// What is in every one of the shapes.
    Intersection(Vec<PlacedShape>),
}

impl Shape {
    /// Whether the shape fits into some box. A mesh always does.
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

/// A shape and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape around its own origin.
    pub shape: Shape,
    /// Where it stands.
    pub placement: Placement,
}

/// Scale, then rotation, then translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Factor of size.
    pub scale: f64,
    /// Rotation about the origin.
    pub rotation: Rotation,
    /// Where the origin comes to stand, in m.
    pub position: Vec3,
}

/// A rotation about an axis. The angle may be more than a full turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// Unit vector.
    pub axis: Vec3,
    /// Angle by the right-hand rule, in rad.
    pub angle: f64,
}

impl Rotation {
    /// No rotation.
    pub const NONE: Self = Self { axis: Vec3::Y, angle: 0.0 };
}

/// A shape filled with particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// Method that drives it: its own or the scene's.
    pub method: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// How densely it is filled.
    pub resolution: Resolution,
    /// How the particles are spread.
    pub sampling: Sampling,
    /// Begins the chance of irregular samplings.
    pub seed: u64,
    /// Velocity of the centre of mass at time 0, in m/s.
    pub velocity: Vec3,
    /// Angular velocity about the centre of mass at time 0, in rad/s.
    pub angular_velocity: Vec3,
    /// Coulomb's coefficient against other bodies.
    pub friction: f64,
    /// Whether it is one piece with others that fuse.
    pub fuse: bool,
    /// The surface that is written of it.
    pub surface: Option<Surface>,
}

/// A surface that is written of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// The body's own mesh, carried along.
    Mesh {
        /// Whether vertices turn with the particles around them.
        order: CarryOrder,
        /// Longest edge of a shape's triangles, in m; `None` is the spacing.
        edge: Option<f64>,
        /// Whether texture coordinates are needed.
        uvs: bool,
    },
    /// A new skin in every frame; what is not given is chosen where skins are made.
    Skin {
        /// Half the spacing that it is made for, in m.
        radius: Option<f64>,
        /// Passes of smoothing.
        smoothing: Option<usize>,
        /// Size of its triangles, in radii.
        cell: Option<f64>,
    },
}

impl Surface {
    /// Mesh or skin.
    pub fn kind(&self) -> SurfaceKind {
        match self {
            Self::Mesh { .. } => SurfaceKind::Mesh,
            Self::Skin { .. } => SurfaceKind::Skin,
        }
    }
}

/// How densely a body is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Distance between neighbours, in m.
    Spacing(f64),
    /// About so many particles.
    Particles(usize),
    /// A distance that changes linearly along a direction.
    SpacingAlong {
        /// Unit vector in world space.
        axis: Vec3,
        /// Distance at the end where the axis begins, in m.
        from: f64,
        /// Distance at the end where the axis points to, in m.
        to: f64,
    },
}

/// How particles are spread in a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// A cubic lattice.
    Lattice,
    /// The lattice, each particle moved by chance.
    Jittered,
    /// Evenly spread without directions.
    Relaxed,
}

/// Poses over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// In strictly growing order of time; empty for what stands still.
    pub keyframes: Vec<Keyframe>,
    /// How it goes from one pose to the next.
    pub ease: Ease,
}

/// A pose at a time, relative to the pose at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// When the pose is reached, in s.
    pub time: f64,
    /// Distance from the start, in m.
    pub translation: Vec3,
    /// Rotation about the own centre at the start.
    pub rotation: Rotation,
}

/// How a motion goes from one pose to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ease {
    /// Constant speed.
    Linear,
    /// Eases in and out.
    Smooth,
}

/// Particles of a body that are held or led.
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Index into [`Scene::bodies`].
    pub body: usize,
    /// The particles inside are gripped; in world coordinates at time 0.
    pub select: PlacedShape,
    /// Along which of the world axes x, y, z the particles are held.
    pub axes: [bool; 3],
    /// Where they are led, from where they are.
    pub motion: Motion,
    /// When they are let go, in s.
    pub release: Option<f64>,
}

/// A solid thing that bodies run into.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Name, unique among bodies, grips and obstacles.
    pub name: String,
    /// Shape at time 0.
    pub shape: PlacedShape,
    /// Thickness of the wall if it is hollow, in m.
    pub shell: Option<f64>,
    /// Whether bodies are kept inside.
    pub inside: bool,
    /// What holds bodies back along the surface.
    pub friction: Friction,
    /// How it moves.
    pub motion: Motion,
}

/// What holds bodies back along a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// Coulomb's law with this coefficient.
    Coulomb(f64),
    /// What touches is held.
    Stick,
}

/// A field that acts on all bodies while it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// The field.
    pub field: ForceField,
    /// When it begins, in s.
    pub from: f64,
    /// When it ends, in s; `None` for never.
    pub until: Option<f64>,
}

/// Force per mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceField {
    /// The same everywhere, in m/s².
    Acceleration(Vec3),
    /// matrix · (x − center).
    Linear {
        /// Acceleration per distance, in 1/s².
        matrix: Mat3,
        /// Where the force is zero, in m.
        center: Vec3,
    },
    /// Deceleration per velocity, in 1/s.
    Drag(f64),
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Particle columns besides those that are always there, without repetition.
    pub columns: Vec<String>,
    /// Frames between two checkpoints.
    pub checkpoint_every: usize,
}
