//! Tests of creating, replacing and locking result folders.

use super::super::run_info::tests::info;
use super::*;

/// A temporary folder for one test, removed when dropped.
pub(in super::super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(in super::super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("phyxel_{name}_{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(in super::super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(in super::super) fn scene() -> BundledScene {
    let mesh = super::super::MeshCopy { name: "meshes/1.obj".into(), bytes: b"o".to_vec() };
    BundledScene { text: "title = \"x\"\n".into(), meshes: vec![mesh] }
}

#[test]
fn an_existing_result_is_refused_or_replaced_but_nothing_else_is_removed() {
    let temporary = TemporaryFolder::new("folder");
    let path = temporary.path().join("out");
    let folder = ResultFolder::create(&path, Overwrite::No, &scene()).unwrap();
    folder.write_run_info(&info()).unwrap();
    fs::write(path.join("frames/particles_0000.ply"), b"x").unwrap();
    fs::write(path.join("notes.txt"), b"mine").unwrap();
    drop(folder);
    assert!(matches!(ResultFolder::create(&path, Overwrite::No, &scene()), Err(ResultError::Exists(_))));
    assert!(path.join("frames/particles_0000.ply").exists());
    let folder = ResultFolder::create(&path, Overwrite::Yes, &scene()).unwrap();
    assert!(folder.frame_numbers().unwrap().is_empty());
    assert_eq!(fs::read(path.join("notes.txt")).unwrap(), b"mine");
    assert_eq!(fs::read(path.join("meshes/1.obj")).unwrap(), b"o");
    folder.write_run_info(&info()).unwrap();
    assert!(matches!(ResultFolder::remove(&path), Err(ResultError::Busy(_))));
    drop(folder);
    ResultFolder::remove(&path).unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "the notes stay");
}

#[test]
fn what_is_no_result_is_never_touched() {
    let temporary = TemporaryFolder::new("folder_other");
    fs::create_dir(temporary.path().join("frames")).unwrap();
    fs::write(temporary.path().join("frames/photo.jpg"), b"photo").unwrap();
    for overwrite in [Overwrite::No, Overwrite::Yes] {
        let refused = ResultFolder::create(temporary.path(), overwrite, &scene());
        assert!(matches!(refused, Err(ResultError::NotAResult(_))));
    }
    assert_eq!(fs::read(temporary.path().join("frames/photo.jpg")).unwrap(), b"photo");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
    assert!(matches!(ResultFolder::open(temporary.path()), Err(ResultError::NotAResult(_))));
    let file = temporary.path().join("frames/photo.jpg");
    assert!(matches!(ResultFolder::check_free(&file, Overwrite::Yes), Err(ResultError::NotAResult(_))));
}

#[test]
fn two_runs_cannot_write_to_one_folder() {
    let temporary = TemporaryFolder::new("folder_lock");
    let path = temporary.path().join("out");
    let first = ResultFolder::create(&path, Overwrite::No, &scene()).unwrap();
    first.write_run_info(&info()).unwrap();
    assert!(matches!(ResultFolder::open_to_write(&path), Err(ResultError::Busy(_))));
    assert!(matches!(ResultFolder::create(&path, Overwrite::Yes, &scene()), Err(ResultError::Busy(_))));
    assert!(first.run_info().is_ok(), "the refused run removed something");
    assert!(ResultFolder::open(&path).is_ok(), "looking is always allowed");
    drop(first);
    assert!(ResultFolder::open_to_write(&path).is_ok());
}
