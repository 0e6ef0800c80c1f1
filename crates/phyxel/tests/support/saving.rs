//! Functions that save and restore worlds, and run them on any number of threads.

use phyxel::math::{Mat3, Real, ShortVec3, Vec3};
use phyxel::particles::{Parameter, StateData, StateItem, StateVisitor};
use phyxel::world::World;

pub(crate) fn on_threads<T: Send>(n: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(run)
}

/// Copy of all state of a world.
pub(crate) struct Saved(Vec<Vec<u64>>);

impl Saved {
    pub(crate) fn new(world: &mut World) -> Self {
        let mut copy = Copy { items: Vec::new(), next: 0, write: false };
        world.visit_state(&mut copy);
        Self(copy.items)
    }

    /// Restores the state into a world that was built in the same way.
    pub(crate) fn restore(&self, world: &mut World) {
        world.visit_state(&mut Copy { items: self.0.clone(), next: 0, write: true });
        world.restored().unwrap();
    }
}

/// Visitor that copies state out of a world, or back into it.
struct Copy {
    items: Vec<Vec<u64>>,
    next: usize,
    write: bool,
}

impl Copy {
    fn pass<T: Clone>(
        &mut self,
        data: &mut Vec<T>,
        to: impl Fn(&T) -> Vec<u64>,
        from: impl Fn(&[u64]) -> T,
        n: usize,
    ) {
        if self.write {
            *data = self.items[self.next].chunks(n).map(from).collect();
        } else {
            self.items.push(data.iter().flat_map(to).collect());
        }
        self.next += 1;
    }
}

impl StateVisitor for Copy {
    fn visit(&mut self, item: StateItem<'_>) {
        let bits = |x: Real| x.to_bits();
        match item.data {
            StateData::Reals(v) => self.pass(v, |x| vec![bits(*x)], |b| Real::from_bits(b[0]), 1),
            StateData::Vectors(v) => self.pass(
                v,
                |x| x.to_array().map(bits).to_vec(),
                |b| Vec3::new(Real::from_bits(b[0]), Real::from_bits(b[1]), Real::from_bits(b[2])),
                3,
            ),
            StateData::ShortVectors(v) => self.pass(
                v,
                |x| x.to_array().map(|x| u64::from(x.to_bits())).to_vec(),
                |b| ShortVec3::from_array([0, 1, 2].map(|k| f32::from_bits(b[k] as u32))),
                3,
            ),
            StateData::Integers(v) => self.pass(v, |x| vec![u64::from(*x)], |b| b[0] as u32, 1),
            StateData::Parameter(parameter) => {
                let mut values = parameter.values().to_vec();
                self.pass(&mut values, |x| vec![bits(*x)], |b| Real::from_bits(b[0]), 1);
                *parameter = Parameter::from_values(values);
            }
            StateData::Number(x) => {
                let mut one = vec![*x];
                self.pass(&mut one, |x| vec![bits(*x)], |b| Real::from_bits(b[0]), 1);
                *x = one[0];
            }
            StateData::Counter(x) => {
                let mut one = vec![*x];
                self.pass(&mut one, |x| vec![*x], |b| b[0], 1);
                *x = one[0];
            }
            StateData::Matrices(v) => self.pass(
                v,
                |m| m.to_cols_array().map(bits).to_vec(),
                |b| Mat3::from_cols_array(&std::array::from_fn(|k| Real::from_bits(b[k]))),
                9,
            ),
        }
    }
}
