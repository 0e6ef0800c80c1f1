//! Tests of scene files as users write them: good ones, bad ones, changed ones and nonsense.

mod bad_scenes;
mod bombs;
mod documentation;
mod embedded;
mod events;
mod good_scenes;
mod materials;
mod methods;
mod nonsense;
mod overrides;
mod reference;

use phyxel::methods::built_methods;
use phyxel_io::scene::{ParseOptions, SceneError, SceneFile};

/// Made-up methods and columns that the tests use; the tables of settings are those of the engine's methods.
pub const OPTIONS: ParseOptions<'static> = ParseOptions {
    methods: &[("first", true), ("second", true), ("third", true), ("later", false), ("much_later", false)],
    columns: Some(&["velocity", "stress", "strain"]),
};

/// Example scene of the format contract without the keys of later versions; it uses all other features, except for
/// settings of methods ([`full_with_settings`]).
pub const FULL: &str = r#"format = 1
title = "Clay bar, twisted and let go"
method = "first"
duration = "2 s"
frame_rate = 30
gravity = [0, -9.81, 0]
time_step = "1 ms"

[materials.clay]                     # a comment that stays
density = 1800
youngs_modulus = "0.2 MPa"           # stiff
poisson_ratio = 0.3
viscosity = "50 Pa.s"
law = "neo_hookean"
plasticity = { yield_stress = "2 kPa", flow_rate = { along = [1, 0, 0], from = 40, to = "0 1/s" }, yield_measure = "deviatoric" }

[materials.putty]
based_on = "modelling clay"
plasticity.thickening_stress = "1 kPa"

[materials.blend]
density = { along = [0, 0, 2], from = "1 g/cm3", to = 2000 }
youngs_modulus = { inside.box = { min = [0, 0, 0], max = [1, 1, 1] }, value = "1 MPa", outside = "2 MPa" }
poisson_ratio = "30 %"

[[bodies]]
name = "bar"
material = "clay"
shape.box = { size = [1.0, 0.25, "25 cm"] }
scale = 1.0
rotation = { axis = [0, 0, 2], angle = "30 deg" }
position = [0, 0.5, 0]
spacing = "5 cm"
sampling = "lattice"
seed = 7
velocity = ["36 km/h", 0, 0]
angular_velocity = [0, "30 rpm", 0]

[[bodies]]
name = "ball"
material = "blend"
method = "second"
particles = 5000
sampling = "relaxed"
[bodies.shape]
difference = [
  { sphere = { radius = "10 cm" } },
  { half_space = { normal = [0, 3, 0], offset = -0.05 }, position = [0, 1, 0], scale = 2 },
]

[[bodies]]
name = "graded"
material = "clay"
shape.mesh = { file = "meshes/graded.obj" }
spacing = { along = [1, 0, 0], from = "2 cm", to = "5 cm" }
sampling = "jittered"

[[grips]]
name = "left"
body = "bar"
select.box = { min = [-0.5, 0, -1], max = [-0.45, 1, 1] }
motion = [ { time = 0 }, { time = "0.5 s", translation = [0, 0.2, 0], rotation = { axis = [1, 0, 0], angle = "135 deg" } } ]
ease = "smooth"
release = "0.6 s"

[[grips]]
body = "ball"
axes = "zx"
[grips.select]
sphere = { radius = 0.1 }
position = [1, 2, 3]

[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }
friction = 0.5

[[obstacles]]
shape.cylinder = { radius = 1, height = 2 }
shell = "1 cm"
inside = true
friction = "stick"
motion = [{ time = 0, translation = [0, 1, 0] }, { time = 1 }]

[[forces]]
acceleration = [0, 0, 2]
from = "0 s"
until = "0.3 s"

[[forces]]
linear = { matrix = [[1, 2, 3], [4, 5, 6], [7, 8, "9 1/s2"]], center = [0, 1, 0] }

[[forces]]
drag = "0.5 1/s"

[output]
columns = ["velocity", "stress"]
checkpoint_every = 10
"#;

/// The shortest scene; the tests of bad scenes depend on its line numbers.
pub const SHORT: &str = r#"method = "first"
duration = 1
[materials.clay]
density = 1800
youngs_modulus = 1e5
poisson_ratio = 0.3
[[bodies]]
name = "bar"
material = "clay"
shape.sphere = { radius = 1 }
spacing = 0.1
"#;

/// Returns the full scene with all settings of all methods, at their defaults.
pub fn full_with_settings() -> String {
    let mut text = FULL.to_owned();
    for factory in built_methods().filter_map(|entry| Some(entry.default_factory?())) {
        text += &format!("\n[methods.{}]\n", factory.key());
        for info in factory.settings() {
            if let Some(value) = factory.get(info.key) {
                text += &format!("{} = {}\n", info.key, methods::toml(&value));
            }
        }
    }
    text
}

/// Returns the key of a method that is built.
pub fn any_method() -> &'static str {
    built_methods().next().unwrap().key
}

/// Reads a scene with [`OPTIONS`].
pub fn parse(text: &str) -> Result<SceneFile, SceneError> {
    SceneFile::parse(text, "scene.toml", &OPTIONS)
}
