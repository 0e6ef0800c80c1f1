//! Warnings about particles that no longer sample the matter well.

use phyxel::methods::{Entry, built_methods};
use phyxel::world::{Ledger, SamplingQuality};
use phyxel_io::results::LedgerTable;

/// Median distance to the nearest neighbour below which the sampling is bad (spacings). Fills start with 0.78 and more;
/// a drop that flattens to a pancake keeps 0.62 with resampling, and 0.50 without.
const LEAST_MEDIAN: f64 = 0.6;
/// Share of crowded particles above which the sampling is bad. Impacts crowd corners and edges for a moment: 1 to 2 %
/// in the tutorials, 16 % in that drop, and 29 % without resampling.
const MOST_CROWDED: f64 = 0.2;

/// Quantities that are followed from frame to frame. `None` if a ledger does not have them.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    median: Option<f64>,
    crowded_share: Option<f64>,
    pieces: Option<f64>,
}

/// A quantity that turned bad.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decline {
    /// First frame with a bad value.
    first: usize,
    /// Worst value, and the first frame that had it.
    worst: f64,
    worst_frame: usize,
}

impl Decline {
    /// Records a bad value; `is_worse` compares it with the worst so far.
    fn note(found: &mut Option<Self>, frame: usize, value: f64, is_worse: fn(f64, f64) -> bool) {
        let decline = found.get_or_insert(Self { first: frame, worst: value, worst_frame: frame });
        if is_worse(value, decline.worst) {
            (decline.worst, decline.worst_frame) = (value, frame);
        }
    }

    /// Describes when the decline began and when it was worst.
    fn frames(&self, at: &dyn Fn(usize) -> String) -> String {
        match self.first == self.worst_frame {
            true => format!("first and worst at {}", at(self.first)),
            false => format!("first at {}, worst at {}", at(self.first), at(self.worst_frame)),
        }
    }
}

/// Follows the sampling quality through the frames of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct SamplingWatch {
    pieces_at_start: Option<f64>,
    median: Option<Decline>,
    crowded: Option<Decline>,
    pieces: Option<Decline>,
}

impl SamplingWatch {
    /// Reads the frames of a ledger file, from frame 0 on.
    pub(crate) fn of_table(table: &LedgerTable) -> Self {
        let mut watch = Self::default();
        let column = |name: &str| table.numbers(name).unwrap_or_default();
        let columns = ["nearest_median", "crowded", "particles", "pieces"].map(column);
        for frame in 0..table.rows.len() {
            let at = |column: &Vec<f64>| column.get(frame).copied().filter(|value| value.is_finite());
            let [median, crowded, particles, pieces] = columns.each_ref().map(at);
            let crowded_share = crowded.zip(particles).map(|(crowded, all)| crowded / all.max(1.0));
            watch.note(frame, Seen { median, crowded_share, pieces });
        }
        watch
    }

    /// Examines the next frame; the first one gives the number of pieces at the start.
    pub(crate) fn see(&mut self, frame: usize, ledger: &Ledger) {
        let SamplingQuality { nearest_median, n_crowded, n_pieces, .. } = ledger.sampling;
        let crowded_share = Some(n_crowded as f64 / ledger.n_particles.max(1) as f64);
        self.note(frame, Seen { median: nearest_median, crowded_share, pieces: n_pieces.map(|n| n as f64) });
    }

    fn note(&mut self, frame: usize, seen: Seen) {
        if let Some(median) = seen.median.filter(|&median| median < LEAST_MEDIAN) {
            Decline::note(&mut self.median, frame, median, |a, b| a < b);
        }
        if let Some(share) = seen.crowded_share.filter(|&share| share > MOST_CROWDED) {
            Decline::note(&mut self.crowded, frame, share, |a, b| a > b);
        }
        let Some(pieces) = seen.pieces else { return };
        if pieces > *self.pieces_at_start.get_or_insert(pieces) {
            Decline::note(&mut self.pieces, frame, pieces, |a, b| a > b);
        }
    }

    /// Returns a sentence for each quantity that turned bad; `at` names a frame ("frame 3").
    pub(crate) fn warnings(&self, at: impl Fn(usize) -> String) -> Vec<String> {
        let at: &dyn Fn(usize) -> String = &at;
        let median = self.median.map(|d| {
            format!(
                "the particles have drawn together, {}: half of them are within {:.2} spacings of another (bad under \
                 {LEAST_MEDIAN}). A smaller `spacing` follows the deformation better{}",
                d.frames(at),
                d.worst,
                resampling_advice()
            )
        });
        let crowded = self.crowded.map(|d| {
            format!(
                "particles clump, {}: {:.0} % of them are within {} spacings of another (bad over {:.0} %). A larger \
                 `repulsion` or `stabilization` of the method keeps them apart, `sampling = \"relaxed\"` starts them evenly",
                d.frames(at),
                100.0 * d.worst,
                SamplingQuality::CROWDED,
                100.0 * MOST_CROWDED
            )
        });
        let pieces = self.pieces.map(|d| {
            format!(
                "matter comes apart, {}: {} pieces, {} at the start. If it should hold, use a smaller `spacing`, a larger \
                 `yield_stress` or slower motion",
                d.frames(at),
                d.worst,
                self.pieces_at_start.unwrap_or_default()
            )
        });
        median.into_iter().chain(crowded).chain(pieces).collect()
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

    #[test]
    fn warnings_name_the_first_frame_and_the_worst() {
        let mut watch = SamplingWatch::default();
        let frames = [
            (0.8, 0.0, 2.0),
            (0.65, 0.2, 2.0),
            (0.55, 0.19, 2.0),
            (0.5, 0.3, 1.0),
            (0.59, 0.25, 5.0),
            (0.72, 0.01, 3.0),
        ];
        let named = |frame: usize| format!("frame {frame}");
        for (frame, (median, share, pieces)) in frames.into_iter().enumerate() {
            let seen = Seen { median: Some(median), crowded_share: Some(share), pieces: Some(pieces) };
            watch.note(frame, seen);
            assert_eq!(watch.warnings(named).is_empty(), frame < 2, "frame {frame}");
        }
        let warnings = watch.warnings(named);
        let expected = [
            "first at frame 2, worst at frame 3: half of them are within 0.50 spacings",
            "first and worst at frame 3: 30 % of them are within 0.4 spacings of another (bad over 20 %)",
            "first and worst at frame 4: 5 pieces, 2 at the start",
        ];
        assert_eq!(warnings.len(), expected.len());
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.contains(expected), "{warning}");
        }
    }

    #[test]
    fn a_ledger_file_says_the_same_and_may_lack_cells_and_columns() {
        let text =
            "time,particles,nearest_median,crowded,pieces\n0.0,10,0.9,0,1\n0.1,10,0.5,4,\n0.2,20,,4,4\n";
        let watch = SamplingWatch::of_table(&LedgerTable::parse(text).unwrap());
        let warnings = watch.warnings(|frame| format!("frame {frame}"));
        let expected =
            ["frame 1: half of them are within 0.50", "worst at frame 1: 40 %", "frame 2: 4 pieces, 1 at"];
        assert_eq!(warnings.len(), expected.len());
        for (warning, expected) in warnings.iter().zip(expected) {
            assert!(warning.contains(expected), "{warning}");
        }
        let old = SamplingWatch::of_table(&LedgerTable::parse("time\n0.0\n").unwrap());
        assert!(old.warnings(|frame| frame.to_string()).is_empty());
    }
}
