//! Snapshot of a world in f32, for display and export.

use crate::math::Real;

/// Snapshot of the world at one moment; rows are in order of particle id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Time of the frame (s).
    pub time: Real,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Particle ids, ascending; an id stays the same for the whole run.
    pub id: Vec<u32>,
    /// Index of the body of each particle.
    pub body: Vec<u32>,
    /// Half the local spacing (m).
    pub radius: Vec<f32>,
    /// Requested columns.
    pub columns: Vec<FrameColumn>,
    /// Points besides the particles.
    pub point_sets: Vec<PointSet>,
}

/// Named points that are not particles: nodes or surfels of a method, poses of obstacles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSet {
    /// Name of the set: a word of letters, digits and underscores.
    pub name: String,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Index of the body, or of the obstacle, that each point belongs to.
    pub body: Vec<u32>,
    /// Other values of the points.
    pub columns: Vec<FrameColumn>,
}

impl PointSet {
    /// Appends the points of another set of the same name. Columns that only one of them has become NaN where they are
    /// missing.
    pub fn append(&mut self, other: Self) {
        let (n, n_other) = (self.body.len(), other.body.len());
        self.position.extend(other.position);
        self.body.extend(other.body);
        for column in other.columns {
            match self.columns.iter_mut().find(|own| own.name == column.name) {
                Some(own) => own.values.extend(column.values),
                None => {
                    let missing = vec![f32::NAN; n * column.n_components];
                    let values = [missing, column.values].concat();
                    self.columns.push(FrameColumn { values, ..column });
                }
            }
        }
        let n_all = n + n_other;
        self.columns.iter_mut().for_each(|own| own.values.resize(n_all * own.n_components, f32::NAN));
    }
}

/// A column of a frame: scalars or vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameColumn {
    /// Name of the column, as requested.
    pub name: String,
    /// SI unit of the values.
    pub unit: &'static str,
    /// Number of components: 1 for scalars, 3 for vectors.
    pub n_components: usize,
    /// Values, row after row.
    pub values: Vec<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_several_groups_become_one() {
        let column = |name: &str, values: Vec<f32>| FrameColumn {
            name: name.into(),
            unit: "1",
            n_components: 1,
            values,
        };
        let mut set = PointSet {
            name: "nodes".into(),
            position: vec![[0.0; 3]],
            body: vec![0],
            columns: vec![column("a", vec![1.0]), column("b", vec![2.0])],
        };
        let other = PointSet {
            name: "nodes".into(),
            position: vec![[1.0; 3]],
            body: vec![1],
            columns: vec![column("b", vec![3.0]), column("c", vec![4.0])],
        };
        set.append(other);
        let names: Vec<&str> = set.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((set.body.as_slice(), names), ([0, 1].as_slice(), vec!["a", "b", "c"]));
        assert!(set.columns[0].values[1].is_nan() && set.columns[2].values[0].is_nan());
        assert_eq!((set.columns[1].values[1], set.columns[2].values[1]), (3.0, 4.0));
    }
}
