//! Tests that the browser page contains everything it needs.

use phyxel_io::viewer::page;
use std::fs;
use std::path::Path;

#[test]
fn every_file_of_the_viewer_is_in_the_page() {
    let page = page();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer");
    let mut n_files = 0;
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|extension| extension == "js" || extension == "css") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(page.contains(&text), "{} is not in the page", path.display());
            n_files += 1;
        }
    }
    assert!(n_files > 5);
    assert!(!page.contains("/* style */") && !page.contains("/* script */"));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = page().replace("http://www.w3.org/2000/svg", "");
    for word in ["http://", "https://", "src=", "@import", "import ", "import(", "url("] {
        assert!(!page.contains(word), "the page has `{word}`");
    }
    assert!(page.contains("default-src 'none'"), "the browser is told so, too");
}
