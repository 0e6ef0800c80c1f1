//! Warnings about runs that go wrong: energy from nowhere, lost volume, inverted matter, particles that no longer sample
//! the matter well.

use phyxel::methods::{Entry, built_methods};
use phyxel::world::{BodyState, EnergyBalance, Ledger, SamplingQuality};
use phyxel_io::results::LedgerTable;

/// Median distance to the nearest neighbour below which the sampling is bad (spacings). Fills start with 0.78 and more;
/// a drop that flattens to a pancake keeps 0.62 with resampling, and 0.50 without.
const LEAST_MEDIAN: f64 = 0.6;
/// Share of crowded particles above which the sampling is bad. Impacts crowd corners and edges for a moment: 1 to 2 %
/// in the tutorials, 16 % in that drop, and 29 % without resampling.
const MOST_CROWDED: f64 = 0.2;
/// Energy that nothing explains, in percent of the energy exchanged, above which a run is not to be trusted.
const MOST_ENERGY_ERROR: f64 = 5.0;
/// Volume ratios of a body outside of which matter is lost or blown up.
const LEAST_VOLUME: f64 = 0.6;
const MOST_VOLUME: f64 = 1.7;
/// Share of inverted particles above which matter is turned inside out. In impacts single particles at corners are.
const MOST_INVERTED: f64 = 0.01;
/// Share of particles to which obstacles leave no room above which matter is crushed, and above which going on is
/// hopeless.
const MOST_PINCHED: f64 = 0.05;
const HOPELESSLY_PINCHED: f64 = 0.5;

/// A quantity that is followed from frame to frame.
struct Quantity {
    /// Returns true if a value is bad; the second argument is the value at the start.
    is_bad: fn(f64, f64) -> bool,
    is_worse: fn(f64, f64) -> bool,
    /// Begins the sentence, before the frames.
    begins: &'static str,
    /// Ends the sentence, after the frames, with the value and a remedy.
    ends: fn(&Decline) -> String,
}

const ENERGY: usize = 0;
const LEAST: usize = 1;
const MOST: usize = 2;
const INVERTED: usize = 3;
const PINCHED: usize = 4;
const MEDIAN: usize = 5;
const CROWDED: usize = 6;
const PIECES: usize = 7;

const QUANTITIES: [Quantity; 8] = [
    Quantity {
        is_bad: |percent, _| percent > MOST_ENERGY_ERROR,
        is_worse: |a, b| a > b,
        begins: "the energy balance does not close",
        ends: |d| {
            format!(
                "{:.0} % of the energy exchanged appeared or vanished without a cause (bad over {MOST_ENERGY_ERROR:.0} %). \
                 A lower `safety` of the method or `time_step`, a smaller `spacing`, some `viscosity`, or slower obstacles \
                 and grips help",
                d.worst
            )
        },
    },
    Quantity {
        is_bad: |ratio, _| ratio < LEAST_VOLUME,
        is_worse: |a, b| a < b,
        begins: "matter loses its volume",
        ends: |d| {
            format!(
                "{:.2} of it is left (bad under {LEAST_VOLUME}). Obstacles that leave the matter more room, a larger \
                 `youngs_modulus` or `poisson_ratio`, or a smaller `spacing` help",
                d.worst
            )
        },
    },
    Quantity {
        is_bad: |ratio, _| ratio > MOST_VOLUME,
        is_worse: |a, b| a > b,
        begins: "matter is blown up",
        ends: |d| {
            format!(
                "to {:.1} times its volume (bad over {MOST_VOLUME}). Slower motion, a larger `youngs_modulus` or a smaller \
                 `spacing` help",
                d.worst
            )
        },
    },
    Quantity {
        is_bad: |share, _| share > MOST_INVERTED,
        is_worse: |a, b| a > b,
        begins: "matter is turned inside out",
        ends: |d| {
            format!(
                "at {:.0} % of its particles (bad over {:.0} %). Slower motion, more room, a larger `poisson_ratio` or a \
                 smaller `spacing` help",
                100.0 * d.worst,
                100.0 * MOST_INVERTED
            )
        },
    },
    Quantity {
        is_bad: |share, _| share > MOST_PINCHED,
        is_worse: |a, b| a > b,
        begins: "obstacles leave the matter no room",
        ends: |d| {
            format!(
                "{:.0} % of the particles are pushed in opposite directions at once (bad over {:.0} %). Obstacles must keep \
                 a distance of at least one spacing, and as much room as the matter has volume; a smaller `spacing` helps",
                100.0 * d.worst,
                100.0 * MOST_PINCHED
            )
        },
    },
    Quantity {
        is_bad: |median, _| median < LEAST_MEDIAN,
        is_worse: |a, b| a < b,
        begins: "the particles have drawn together",
        ends: |d| {
            format!(
                "half of them are within {:.2} spacings of another (bad under {LEAST_MEDIAN}). A smaller `spacing` follows \
                 the deformation better{}",
                d.worst,
                resampling_advice()
            )
        },
    },
    Quantity {
        is_bad: |share, _| share > MOST_CROWDED,
        is_worse: |a, b| a > b,
        begins: "particles clump",
        ends: |d| {
            format!(
                "{:.0} % of them are within {} spacings of another (bad over {:.0} %). A larger `repulsion` or \
                 `stabilization` of the method keeps them apart, `sampling = \"relaxed\"` starts them evenly",
                100.0 * d.worst,
                SamplingQuality::CROWDED,
                100.0 * MOST_CROWDED
            )
        },
    },
    Quantity {
        is_bad: |pieces, at_start| pieces > at_start,
        is_worse: |a, b| a > b,
        begins: "matter comes apart",
        ends: |d| {
            format!(
                "{} pieces, {} at the start. If it should hold, use a smaller `spacing`, a larger `yield_stress` or slower \
                 motion",
                d.worst, d.at_start
            )
        },
    },
];

/// Value of a quantity in a frame, and the body that it belongs to, if it is known.
#[derive(Clone, Debug, Default)]
struct Seen {
    value: f64,
    body: Option<String>,
}

impl From<f64> for Seen {
    fn from(value: f64) -> Self {
        Self { value, body: None }
    }
}

/// A quantity that turned bad.
#[derive(Clone, Debug, PartialEq)]
struct Decline {
    /// First frame with a bad value.
    first: usize,
    /// Worst value, the first frame that had it, and its body.
    worst: f64,
    worst_frame: usize,
    body: Option<String>,
    at_start: f64,
}

impl Decline {
    /// Describes the decline; `at` names a frame.
    fn sentence(&self, quantity: &Quantity, at: &dyn Fn(usize) -> String) -> String {
        let frames = match self.first == self.worst_frame {
            true => format!("first and worst at {}", at(self.first)),
            false => format!("first at {}, worst at {}", at(self.first), at(self.worst_frame)),
        };
        let body = self.body.as_ref().map_or_else(String::new, |name| format!(" (body \"{name}\")"));
        format!("{}{body}, {frames}: {}", quantity.begins, (quantity.ends)(self))
    }
}

/// Follows the quantities through the frames of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    at_start: [Option<f64>; QUANTITIES.len()],
    declines: [Option<Decline>; QUANTITIES.len()],
}

impl Watch {
    /// Reads the frames of a ledger file, from frame 0 on.
    pub(crate) fn of_table(table: &LedgerTable) -> Self {
        let mut watch = Self::default();
        let column = |name: &str| table.numbers(name).unwrap_or_default();
        let particles = column("particles");
        let names = [
            "energy_error_percent",
            "least_volume_ratio",
            "largest_volume_ratio",
            "inverted",
            "pinched",
            "nearest_median",
            "crowded",
            "pieces",
        ];
        let columns = names.map(column);
        for frame in 0..table.rows.len() {
            let at = |column: &Vec<f64>| column.get(frame).copied().filter(|value| value.is_finite());
            let mut seen = columns.each_ref().map(|column| at(column).map(Seen::from));
            for share in [INVERTED, PINCHED, CROWDED] {
                let all = at(&particles).unwrap_or(1.0).max(1.0);
                seen[share] = seen[share].take().map(|seen| Seen::from(seen.value / all));
            }
            watch.note(frame, seen);
        }
        watch
    }

    /// Examines the next frame and returns sentences about what has turned bad in it; the first frame is the start.
    pub(crate) fn see(&mut self, frame: usize, ledger: &Ledger) -> Vec<String> {
        let SamplingQuality { nearest_median, n_crowded, n_pieces, .. } = ledger.sampling;
        let share = |n: usize, all: usize| n as f64 / all.max(1) as f64;
        let most = |value: &dyn Fn(&BodyState) -> f64| {
            let bodies = ledger.bodies.iter().map(|body| (value(body), body));
            let worst = bodies.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
            Some(Seen { value: worst.0, body: Some(worst.1.name.clone()) })
        };
        let fastest = most(&|body| body.max_speed).and_then(|seen| seen.body);
        let percent = ledger.balance.as_ref().map(|balance| 100.0 * EnergyBalance::relative_error(balance));
        let mut seen: [Option<Seen>; QUANTITIES.len()] = Default::default();
        seen[ENERGY] = percent.map(|value| Seen { value, body: fastest });
        seen[LEAST] = most(&|body| -body.volume_ratio).map(|seen| Seen { value: -seen.value, ..seen });
        seen[MOST] = most(&|body| body.volume_ratio);
        seen[INVERTED] = most(&|body| share(body.n_inverted, body.n_particles));
        seen[PINCHED] = Some(share(ledger.n_pinched, ledger.n_particles).into());
        seen[MEDIAN] = nearest_median.map(Seen::from);
        seen[CROWDED] = Some(share(n_crowded, ledger.n_particles).into());
        seen[PIECES] = n_pieces.map(|n| (n as f64).into());
        self.note(frame, seen)
    }

    fn note(&mut self, frame: usize, seen: [Option<Seen>; QUANTITIES.len()]) -> Vec<String> {
        let mut news = Vec::new();
        for (k, seen) in seen.into_iter().enumerate() {
            let (Some(Seen { value, body }), quantity) = (seen, &QUANTITIES[k]) else { continue };
            let at_start = *self.at_start[k].get_or_insert(value);
            if !(quantity.is_bad)(value, at_start) {
                continue;
            }
            let decline = |first| Decline { first, worst: value, worst_frame: frame, body, at_start };
            match &mut self.declines[k] {
                None => {
                    let decline = decline(frame);
                    news.push(decline.sentence(quantity, &|frame| format!("frame {frame}")));
                    self.declines[k] = Some(decline);
                }
                Some(known) if (quantity.is_worse)(value, known.worst) => *known = decline(known.first),
                Some(_) => {}
            }
        }
        news
    }

    /// Returns true if going on is hopeless: obstacles have closed around most of the matter.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.declines[PINCHED].as_ref().is_some_and(|decline| decline.worst > HOPELESSLY_PINCHED)
    }

    /// Returns sentences about quantities that have become worse than when they were news, or were bad before a frame.
    pub(crate) fn later_warnings(&self, first_frame: usize) -> Vec<String> {
        let is_later = |d: &&Decline| d.worst_frame != d.first || d.first < first_frame;
        let all = self.declines.iter().zip(&QUANTITIES);
        let later =
            all.filter_map(|(decline, quantity)| Some((decline.as_ref().filter(is_later)?, quantity)));
        later
            .map(|(decline, quantity)| decline.sentence(quantity, &|frame| format!("frame {frame}")))
            .collect()
    }

    /// Returns a sentence for each quantity that turned bad; `at` names a frame ("frame 3").
    pub(crate) fn warnings(&self, at: impl Fn(usize) -> String) -> Vec<String> {
        let all = self.declines.iter().zip(&QUANTITIES);
        all.filter_map(|(decline, quantity)| Some(decline.as_ref()?.sentence(quantity, &at))).collect()
    }
}

/// Returns advice to use a method that merges particles; empty if there is none.
fn resampling_advice() -> String {
    let has_resampling = |entry: &Entry| {
        let settings = entry.default_factory.map(|default| default().settings()).unwrap_or_default();
        settings.iter().any(|info| info.key == "resampling")
    };
    let methods = built_methods().filter(|entry| has_resampling(entry));
    let methods: Vec<String> = methods.map(|entry| format!("\"{}\"", entry.key)).collect();
    if methods.is_empty() {
        return String::new();
    }
    format!(
        ", and method {} with `resampling = \"gaps\"` merges what has flowed together",
        methods.join(" or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> LedgerTable {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines();
        LedgerTable { columns: cells(lines.next().unwrap()), rows: lines.map(cells).collect() }
    }

    fn check(warnings: &[String], expected: &[&str]) {
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.contains(expected), "{warning}");
        }
    }

    #[test]
    fn warnings_name_the_first_frame_and_the_worst() {
        let mut watch = Watch::default();
        let frames = [
            (0.0, 0.8, 0.0, 2.0),
            (5.0, 0.65, 0.2, 2.0),
            (4.0, 0.55, 0.19, 2.0),
            (7.0, 0.5, 0.3, 1.0),
            (6.0, 0.59, 0.25, 5.0),
            (5.0, 0.72, 0.01, 3.0),
        ];
        let named = |frame: usize| format!("frame {frame}");
        for (frame, (percent, median, share, pieces)) in frames.into_iter().enumerate() {
            let mut seen: [Option<Seen>; QUANTITIES.len()] = Default::default();
            seen[ENERGY] = Some(Seen { value: percent, body: Some("bar".into()) });
            (seen[MEDIAN], seen[CROWDED]) = (Some(median.into()), Some(share.into()));
            seen[PIECES] = Some(pieces.into());
            let n_news = watch.note(frame, seen).len();
            assert_eq!(n_news, [0, 0, 1, 2, 1, 0][frame], "a decline is news in its first frame");
            assert_eq!(watch.warnings(named).is_empty(), frame < 2, "frame {frame}");
        }
        let expected = [
            "(body \"bar\"), first and worst at frame 3: 7 % of the energy exchanged",
            "first at frame 2, worst at frame 3: half of them are within 0.50 spacings",
            "first and worst at frame 3: 30 % of them are within 0.4 spacings of another (bad over 20 %)",
            "first and worst at frame 4: 5 pieces, 2 at the start",
        ];
        check(&watch.warnings(named), &expected);
    }

    #[test]
    fn bodies_that_shrink_grow_or_turn_inside_out_are_named() {
        let states = |ratio: f64, n_inverted: usize| {
            let state = |name: &str, volume_ratio, n_inverted| BodyState {
                name: name.into(),
                volume_ratio,
                n_inverted,
                n_particles: 200,
                max_speed: 1.0,
            };
            [state("sound", 1.0, 2), state("ill", ratio, n_inverted)]
        };
        for (ratio, n_inverted, expected) in [
            (0.5, 0, vec!["matter loses its volume (body \"ill\"), first and worst at frame 0: 0.50 of it"]),
            (1.8, 0, vec!["matter is blown up (body \"ill\"), first and worst at frame 0: to 1.8 times"]),
            (1.0, 5, vec!["matter is turned inside out (body \"ill\"), first and worst at frame 0: at 2 %"]),
            (0.9, 2, vec![]),
        ] {
            let world = {
                use phyxel::prelude::*;
                let body = Body::new("a", Shape::Box { size: Vec3::ONE }, 0.25, Material::elastic(1e4, 0.3));
                World::builder().body(body).build().unwrap()
            };
            let ledger = Ledger { bodies: states(ratio, n_inverted).into(), ..world.ledger() };
            let mut watch = Watch::default();
            check(&watch.see(0, &ledger), &expected);
        }
    }

    #[test]
    fn a_ledger_file_says_the_same_and_may_lack_cells_and_columns() {
        let text = "time,particles,nearest_median,crowded,pieces,energy_error_percent,inverted\n\
                    0.0,10,0.9,0,1,0,0\n0.1,10,0.5,4,,9.0,\n0.2,20,,4,4,,1\n";
        let watch = Watch::of_table(&table(text));
        let expected = [
            "at frame 1: 9 % of the energy",
            "at frame 2: at 5 %",
            "frame 1: half of them are within 0.50",
            "worst at frame 1: 40 %",
            "frame 2: 4 pieces, 1 at",
        ];
        check(&watch.warnings(|frame| format!("frame {frame}")), &expected);
        let old = Watch::of_table(&table("time\n0.0\n"));
        assert!(old.warnings(|frame| frame.to_string()).is_empty());
    }
}
