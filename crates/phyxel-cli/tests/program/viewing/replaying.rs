//! Tests of recorded runs.

use super::Viewer;
use crate::support::{BLOCK, Workplace};
use phyxel_io::results::ResultFolder;
use serde_json::json;

#[test]
fn frames_come_in_the_order_of_the_questions_and_say_what_the_files_say() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q"]);
    let viewer = Viewer::start(&place, &["a"]);
    let (mut socket, info) = viewer.socket();
    assert_eq!(
        (&info["mode"], &info["frames"], &info["title"]),
        (&json!("replay"), &json!(41), &json!("Block"))
    );
    let order = [40, 0, 7, 7, 39];
    order.iter().for_each(|&index| socket.ask_frame(index, &["stress"]));
    let folder = ResultFolder::open(&place.path("a")).unwrap();
    for index in order {
        let (packet, table) = (socket.packet(), folder.read_frame(index).unwrap());
        assert_eq!(packet.header["frame"], index);
        assert_eq!(packet.header["time"], json!(table.time));
        assert_eq!(packet.floats("position"), table.position.as_flattened());
        let stress = table.columns.iter().find(|column| column.name == "stress").unwrap();
        assert_eq!(packet.floats("column"), stress.values);
    }
    socket.ask(&json!({ "type": "particle", "frame": 3, "row": 5 }));
    let particle = socket.text_of_type("particle");
    let table = folder.read_frame(3).unwrap();
    assert_eq!((&particle["id"], &particle["body"]), (&json!(table.id[5]), &json!("block")));
}

#[test]
fn what_is_not_there_is_an_error_and_no_end() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "2"]);
    let viewer = Viewer::start(&place, &["a"]);
    let (mut socket, _) = viewer.socket();
    for question in [
        json!({ "type": "frame", "index": 3 }),
        json!({ "type": "frame", "index": u64::MAX }),
        json!({ "type": "frame", "index": 0, "columns": ["../scene"] }),
        json!({ "type": "particle", "frame": 0, "row": 1_000_000 }),
        json!({ "type": "particle", "frame": 99, "row": 0 }),
        json!({ "type": "next" }),
        json!({ "type": "play" }),
        json!({ "type": "save" }),
        json!(["frame"]),
    ] {
        socket.ask(&question);
        let answer = socket.text();
        assert_eq!(answer["type"], "error", "{question}");
        assert_eq!(answer.get("to"), question.get("type"), "{question}");
    }
    socket.ask_frame(2, &[]);
    assert_eq!(socket.packet().header["frame"], 2);
}

#[test]
fn a_folder_that_grows_is_told() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "3"]);
    let viewer = Viewer::start(&place, &["a"]);
    let (mut socket, info) = viewer.socket();
    assert_eq!((&info["frames"], info["ledger"]["rows"].as_array().unwrap().len()), (&json!(4), 4));
    place.succeed(&["resume", "a", "-q", "--frames", "9"]);
    let mut n_rows = 4;
    loop {
        let grown = socket.text_of_type("frames");
        n_rows += grown["ledger_rows"].as_array().unwrap().len();
        if grown["frames"] == 10 {
            break;
        }
    }
    assert_eq!(n_rows, 10);
    socket.ask_frame(9, &[]);
    assert_eq!(socket.packet().header["frame"], 9);
}

#[test]
fn what_is_no_result_is_refused_before_anything_is_served() {
    let place = Workplace::new(BLOCK);
    std::fs::create_dir(place.path("other")).unwrap();
    place.succeed(&["run", "scene.toml", "-o", "a", "-q", "--frames", "1"]);
    std::fs::remove_dir_all(place.path("a/frames")).unwrap();
    std::fs::create_dir(place.path("a/frames")).unwrap();
    for (source, code, word) in
        [("other", 2, "no result folder"), ("missing", 2, "missing"), ("a", 1, "particles_0000.ply")]
    {
        let ended = place.phyxel(&["view", source, "--no-open", "--port", "0"]);
        assert_eq!(ended.code, Some(code), "{source}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
}
