//! Line charts over time as SVG, several on a page. One legend is above all charts: inside one it would cover lines.

use crate::render::Color;
use crate::ticks::{Ticks, nice_step};
use std::fmt::Write;

/// Meaning of one line in every chart.
pub(crate) struct Series {
    /// Text in the legend.
    pub(crate) label: String,
    /// Colour of the lines.
    pub(crate) color: Color,
    /// True if the series ends early: its end is marked, and its line may leave the chart.
    pub(crate) is_cut_short: bool,
}

/// One quantity over time.
pub(crate) struct Chart {
    /// Name of the quantity.
    pub(crate) title: String,
    /// Unit of the quantity; may be empty.
    pub(crate) unit: String,
    /// Points of each series: time (s) and value. Points that are not finite are left out.
    pub(crate) lines: Vec<Vec<[f64; 2]>>,
}

// All lengths are in pixels of the page at its own size.
const CHART_WIDTH: f64 = 560.0;
const CHART_HEIGHT: f64 = 330.0;
const N_COLUMNS: usize = 2;
/// Distances from the border of a chart to its axes: left, right, top, bottom.
const MARGINS: [f64; 4] = [78.0, 24.0, 44.0, 58.0];
const PAGE_MARGIN: f64 = 16.0;
const TITLE_HEIGHT: f64 = 40.0;
const LEGEND_HEIGHT: f64 = 30.0;
const SAMPLE_WIDTH: f64 = 44.0;
const TEXT_SIZE: f64 = 16.0;
/// Estimated width of a letter, on the safe side, because the reader's font is not known.
const WIDTH_OF_LETTER: f64 = 0.58 * TEXT_SIZE;
const N_TICKS: f64 = 5.0;
/// Dashes of the lines, which distinguish lines that lie on each other; the first is solid.
const DASHES: [&str; 5] = ["", "10 6", "3 5", "14 5 3 5", "6 3"];

/// Returns a page with all the charts.
pub(crate) fn page(title: &str, series: &[Series], charts: &[Chart]) -> String {
    let width = N_COLUMNS as f64 * CHART_WIDTH + 2.0 * PAGE_MARGIN;
    let (legend, n_legend_rows) = legend(series, width);
    let top = PAGE_MARGIN + TITLE_HEIGHT + n_legend_rows as f64 * LEGEND_HEIGHT;
    let height = top + charts.len().div_ceil(N_COLUMNS) as f64 * CHART_HEIGHT + PAGE_MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"{TEXT_SIZE}\" fill=\"#2b3038\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    svg += &text([PAGE_MARGIN + 8.0, PAGE_MARGIN + 22.0], "start", 1.25, title);
    svg += &legend;
    for (k, chart) in charts.iter().enumerate() {
        let left = PAGE_MARGIN + (k % N_COLUMNS) as f64 * CHART_WIDTH;
        let place = [left, top + (k / N_COLUMNS) as f64 * CHART_HEIGHT];
        svg += &Axes::new(chart, series, place).draw(k, chart, series);
    }
    svg + "</svg>\n"
}

/// Returns the legend and the number of its rows.
fn legend(series: &[Series], width: f64) -> (String, usize) {
    let mut svg = String::new();
    let (mut x, mut row) = (PAGE_MARGIN + 8.0, 0usize);
    for (k, one) in series.iter().enumerate() {
        let room = SAMPLE_WIDTH + 10.0 + one.label.chars().count() as f64 * WIDTH_OF_LETTER + 34.0;
        if x > PAGE_MARGIN + 8.0 && x + room > width {
            (x, row) = (PAGE_MARGIN + 8.0, row + 1);
        }
        let y = PAGE_MARGIN + TITLE_HEIGHT + (row as f64 + 0.5) * LEGEND_HEIGHT;
        put(&mut svg, format_args!("<path d=\"M{x:.1} {y:.1}h{SAMPLE_WIDTH}\" {}/>\n", stroke(k, one.color)));
        svg += &text([x + SAMPLE_WIDTH + 10.0, y + 0.35 * TEXT_SIZE], "start", 1.0, &one.label);
        x += room;
    }
    (svg, if series.is_empty() { 0 } else { row + 1 })
}

/// Axes of a chart, which map values to positions on the page.
struct Axes {
    /// Edges on the page: left, right, top, bottom.
    frame: [f64; 4],
    times: [f64; 2],
    values: [f64; 2],
}

impl Axes {
    fn new(chart: &Chart, series: &[Series], [left, top]: [f64; 2]) -> Self {
        let frame = [
            left + MARGINS[0],
            left + CHART_WIDTH - MARGINS[1],
            top + MARGINS[2],
            top + CHART_HEIGHT - MARGINS[3],
        ];
        let times = chart.lines.iter().flatten().map(|point| point[0]);
        let times = range(times).filter(|range| range[1] > range[0]).unwrap_or([0.0, 1.0]);
        Self { frame, times, values: rounded_out(value_range(chart, series)) }
    }

    fn x(&self, time: f64) -> f64 {
        let [left, right, ..] = self.frame;
        left + (right - left) * (time - self.times[0]) / (self.times[1] - self.times[0])
    }

    /// Returns the vertical position of a value. Far values are clamped: renderers dislike huge numbers.
    fn y(&self, value: f64) -> f64 {
        let [.., top, bottom] = self.frame;
        let share = (value - self.values[0]) / (self.values[1] - self.values[0]);
        bottom - (bottom - top) * share.clamp(-2.0, 3.0)
    }

    fn draw(&self, number: usize, chart: &Chart, series: &[Series]) -> String {
        let [left, right, top, bottom] = self.frame;
        let (width, height) = (right - left, bottom - top);
        let mut svg = format!(
            "<clipPath id=\"chart{number}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/></clipPath>\n"
        );
        let values = Ticks::between(self.values[0], self.values[1], N_TICKS);
        let times = Ticks::between(self.times[0], self.times[1], N_TICKS);
        for (share, mark) in &values.marks {
            let y = bottom - share * height;
            put(&mut svg, format_args!("<path d=\"M{left:.1} {y:.1}h{width:.1}\" stroke=\"#e3e5e9\"/>\n"));
            svg += &text([left - 9.0, y + 0.35 * TEXT_SIZE], "end", 1.0, mark);
        }
        for (share, mark) in &times.marks {
            let x = left + share * width;
            put(&mut svg, format_args!("<path d=\"M{x:.1} {bottom:.1}v6\" stroke=\"#2b3038\"/>\n"));
            svg += &text([x, bottom + 23.0], "middle", 1.0, mark);
        }
        put(
            &mut svg,
            format_args!(
                "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#2b3038\"/>\n"
            ),
        );
        svg += &text([left, top - 14.0], "start", 1.1, &values.heading(&chart.title, &chart.unit));
        svg += &text([right, bottom + 44.0], "end", 1.0, &times.heading("time", "s"));
        let missing: Vec<&str> = series
            .iter()
            .zip(&chart.lines)
            .filter(|(_, line)| !line.iter().any(|point| point[1].is_finite()))
            .map(|(one, _)| one.label.as_str())
            .collect();
        if !missing.is_empty() {
            svg += &text([right, top - 14.0], "end", 0.9, &format!("none of {}", missing.join(", ")));
        }
        put(&mut svg, format_args!("<g clip-path=\"url(#chart{number})\">\n"));
        for (k, (one, line)) in series.iter().zip(&chart.lines).enumerate() {
            svg += &self.line(k, one, line);
        }
        svg + "</g>\n"
    }

    fn line(&self, k: usize, series: &Series, line: &[[f64; 2]]) -> String {
        let mut svg = String::new();
        let is_known = |point: &[f64; 2]| point.iter().all(|number| number.is_finite());
        for piece in line.split(|point| !is_known(point)).filter(|piece| !piece.is_empty()) {
            let mut path = String::new();
            for (n, point) in piece.iter().enumerate() {
                let letter = if n == 0 { 'M' } else { 'L' };
                put(&mut path, format_args!("{letter}{:.1} {:.1}", self.x(point[0]), self.y(point[1])));
            }
            if piece.len() == 1 {
                // a dot
                path += "h0";
            }
            put(&mut svg, format_args!("<path d=\"{path}\" {}/>\n", stroke(k, series.color)));
        }
        if let Some(end) = line.iter().rev().find(|point| is_known(point)).filter(|_| series.is_cut_short) {
            let [.., top, bottom] = self.frame;
            // clamped, so that the mark is visible where the line has left the chart
            let (x, y) = (self.x(end[0]), self.y(end[1]).clamp(top + 7.0, bottom - 7.0));
            let color = hex(series.color);
            put(
                &mut svg,
                format_args!(
                    "<path d=\"M{:.1} {:.1}l12 12m0 -12l-12 12\" stroke=\"{color}\" stroke-width=\"3\"/>\n",
                    x - 6.0,
                    y - 6.0
                ),
            );
        }
        svg
    }
}

/// Returns the range of all values. Series that are cut short widen the range of the others by at most its own width,
/// because a failed run can end with huge values.
fn value_range(chart: &Chart, series: &[Series]) -> [f64; 2] {
    let values = |is_cut_short: bool| {
        let lines = series.iter().zip(&chart.lines).filter(move |(one, _)| one.is_cut_short == is_cut_short);
        lines.flat_map(|(_, line)| line.iter().map(|point| point[1]))
    };
    match (range(values(false)), range(values(true))) {
        (Some([low, high]), Some([cut_low, cut_high])) => {
            let room = high - low;
            [low.min(cut_low.max(low - room)), high.max(cut_high.min(high + room))]
        }
        (Some(range), None) | (None, Some(range)) => range,
        (None, None) => [0.0, 1.0],
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |range, value| match range {
        None => Some([value, value]),
        Some([low, high]) => Some([low.min(value), high.max(value)]),
    })
}

/// Smallest relative change that is visible; a smaller range is padded.
const LEAST_CHANGE: f64 = 1e-5;

/// Returns a range with round ends; a range without extent is widened.
fn rounded_out([low, high]: [f64; 2]) -> [f64; 2] {
    let largest = low.abs().max(high.abs());
    if largest == 0.0 || !(high - low).is_finite() {
        return [0.0, 1.0];
    }
    let (low, high) = if high - low < LEAST_CHANGE * largest {
        let pad = 0.05 * largest;
        (low - pad, high + pad)
    } else {
        (low, high)
    };
    // a line exactly on the edge would be half hidden
    let edge = 0.01 * (high - low);
    let mut ends = [low - edge, high + edge];
    // a wider range may have wider steps, which have other round numbers
    for _ in 0..3 {
        let step = nice_step((ends[1] - ends[0]) / N_TICKS);
        ends = [((low - edge) / step).floor() * step, ((high + edge) / step).ceil() * step];
    }
    // the axis of values that are never negative does not go below zero; likewise for values that are never positive
    [
        if low >= 0.0 { ends[0].max(0.0) } else { ends[0] },
        if high <= 0.0 { ends[1].min(0.0) } else { ends[1] },
    ]
}

fn stroke(k: usize, color: Color) -> String {
    let dash = DASHES[k % DASHES.len()];
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"2.6\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}",
        hex(color)
    )
}

fn hex(color: Color) -> String {
    let [red, green, blue] = color.rgb;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns a line of text; `scale` multiplies the usual size.
fn text([x, y]: [f64; 2], anchor: &str, scale: f64, content: &str) -> String {
    let size = TEXT_SIZE * scale;
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size:.1}\">{}</text>\n",
        escaped(content)
    )
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            // XML allows no other control characters
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Appends to the text; writing to a string cannot fail.
fn put(svg: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(label: &str, is_cut_short: bool) -> Series {
        Series { label: label.into(), color: Color::new(0xd9, 0x6c, 0x47), is_cut_short }
    }

    fn chart(lines: Vec<Vec<[f64; 2]>>) -> Chart {
        Chart { title: "kinetic energy".into(), unit: "J".into(), lines }
    }

    /// Returns the points of the first line in the first chart.
    fn points(svg: &str) -> Vec<[f64; 2]> {
        let inside = svg.split("clip-path=\"url").nth(1).unwrap();
        let path = inside.split("<path d=\"M").nth(1).unwrap().split('"').next().unwrap();
        let number = |text: &str| text.parse().unwrap();
        path.split('L').map(|p| p.split_once(' ').map(|(x, y)| [number(x), number(y)]).unwrap()).collect()
    }

    #[test]
    fn lines_go_through_their_values_and_axes_have_units() {
        let both = [series("a <b> & c", false), series("d", false)];
        let lines = vec![vec![[0.0, 0.0], [1.0, 10.0], [2.0, 5.0]], vec![[0.0, f64::NAN]]];
        let svg = page("Title", &both, &[chart(lines)]);
        for word in
            ["kinetic energy [J]", "time [s]", "a &lt;b&gt; &amp; c", "Title", ">10<", ">2.0<", "none of d"]
        {
            assert!(svg.contains(word), "{word} is missing in\n{svg}");
        }
        let found = points(&svg);
        let axes = Axes::new(
            &chart(vec![vec![[0.0, 0.0], [2.0, 10.0]]]),
            &both[..1],
            [PAGE_MARGIN, PAGE_MARGIN + TITLE_HEIGHT + LEGEND_HEIGHT],
        );
        for (found, value) in found.iter().zip([[0.0, 0.0], [1.0, 10.0], [2.0, 5.0]]) {
            assert!((found[0] - axes.x(value[0])).abs() < 0.1 && (found[1] - axes.y(value[1])).abs() < 0.1);
        }
        assert_eq!((axes.x(0.0), axes.y(0.0)), (axes.frame[0], axes.frame[3]));
    }

    #[test]
    fn every_tag_is_closed_and_pages_of_nothing_are_survived() {
        for svg in [page("", &[], &[]), page("t", &[series("a", true)], &[chart(vec![vec![[0.0, 1.0]]])])] {
            let opened = svg.matches('<').count();
            let closed = svg.matches("/>").count() + svg.matches("</").count();
            let pairs = svg.matches("</").count();
            assert_eq!(opened, closed + pairs, "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    /// A run that explodes must not flatten the others, and its end must still be visible.
    #[test]
    fn a_failed_series_widens_the_range_a_little_and_is_marked() {
        let both = [series("good", false), series("bad", true)];
        let lines = vec![vec![[0.0, 1.0], [1.0, 2.0]], vec![[0.0, 1.0], [0.5, 1e30]]];
        assert_eq!(value_range(&chart(lines.clone()), &both), [1.0, 3.0]);
        let svg = page("", &both, &[chart(lines)]);
        assert!(svg.contains("l12 12") && !svg.contains("e30"), "{svg}");
    }

    #[test]
    fn ranges_have_round_ends_and_constants_have_room() {
        assert_eq!(rounded_out([0.0, 9.7]), [0.0, 10.0]);
        assert_eq!(rounded_out([1e-20, 91.0]), [0.0, 100.0]);
        assert_eq!(rounded_out([18.0, 26.0]), [15.0, 30.0]);
        assert_eq!(rounded_out([0.0, 0.0]), [0.0, 1.0]);
        let [low, high] = rounded_out([1.0, 1.0 + 1e-9]);
        assert!(low < 0.96 && low > 0.89 && high > 1.04 && high < 1.11);
        let [low, high] = rounded_out([-3.1, 4.9]);
        assert_eq!((low, high), (-4.0, 6.0));
        assert_eq!(rounded_out([f64::MIN, f64::MAX]), [0.0, 1.0]);
    }

    #[test]
    fn long_legends_take_more_rows() {
        let many: Vec<Series> = (0..12).map(|k| series(&format!("a rather long name {k}"), false)).collect();
        assert!(legend(&many, 1152.0).1 > 1);
        assert_eq!(legend(&many[..2], 1152.0).1, 1);
    }
}
