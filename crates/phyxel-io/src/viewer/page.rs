//! The page of the viewer: the files of `viewer/` in one self-contained text.

/// Mark in the page that is replaced by the style.
const STYLE_MARK: &str = "/* style */";
/// Mark in the page that is replaced by the script.
const SCRIPT_MARK: &str = "/* script */";
/// Mark in the page at which an export inserts its data.
const DATA_MARK: &str = "<!-- data -->";

const FRAME: &str = include_str!("../../../../viewer/index.html");
const STYLE: &str = include_str!("../../../../viewer/style.css");
/// Script files in one scope; later files use the definitions of earlier ones.
const SCRIPTS: &[&str] = &[
    include_str!("../../../../viewer/maths.js"),
    include_str!("../../../../viewer/colors.js"),
    include_str!("../../../../viewer/packet.js"),
    include_str!("../../../../viewer/sources.js"),
    include_str!("../../../../viewer/shaders.js"),
    include_str!("../../../../viewer/graphics.js"),
    include_str!("../../../../viewer/renderer.js"),
    include_str!("../../../../viewer/camera.js"),
    include_str!("../../../../viewer/plots.js"),
    include_str!("../../../../viewer/panel.js"),
    include_str!("../../../../viewer/player.js"),
    include_str!("../../../../viewer/main.js"),
];

/// Returns the text of the page, which is the same for a server and for an export.
pub fn page() -> String {
    let style = FRAME.replacen(STYLE_MARK, STYLE, 1);
    style.replacen(SCRIPT_MARK, &SCRIPTS.concat(), 1)
}

/// Returns the page in two parts, before and after the data that an export inserts.
pub(crate) fn page_around_data() -> (String, String) {
    let page = page();
    let (before, after) = page.split_once(DATA_MARK).unwrap_or((&page, ""));
    (before.to_owned(), after.to_owned())
}
