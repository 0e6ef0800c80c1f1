//! Mesh files of a scene, copied into the result folder so that the folder is self-contained.

use super::{ContentDigest, ResultError};
use crate::mesh::{base64, gltf_file};
use std::path::Path;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// A mesh file to be copied into a result folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshCopy {
    /// Path in the result folder, `meshes/DIGEST.EXT`; the bundled scene names the same path.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// A scene whose mesh files are named by the digests of their content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledScene {
    /// Text of the scene; its mesh paths point into the result folder.
    pub text: String,
    /// Mesh files that the scene names, each once.
    pub meshes: Vec<MeshCopy>,
}

/// Reads the mesh files that a scene names (`mesh = { file = "..." }`, relative to `folder`) and renames them in its
/// text by their content. A file that cannot be read keeps its name; the error is reported when the scene is built.
pub fn bundle_meshes(scene_text: &str, folder: &Path) -> BundledScene {
    let unchanged = || BundledScene { text: scene_text.to_owned(), meshes: Vec::new() };
    let Ok(mut document) = scene_text.parse::<DocumentMut>() else { return unchanged() };
    let mut meshes = Vec::new();
    visit_table(document.as_table_mut(), false, &mut |file| {
        let path = folder.join(&*file);
        let Ok(bytes) = crate::read_file(&path, crate::mesh::LARGEST_FILE) else { return };
        let extension =
            Path::new(file).extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
        let bytes =
            if extension == "gltf" { with_buffers_inside(&bytes, &path).unwrap_or(bytes) } else { bytes };
        let name = format!("meshes/{}.{extension}", ContentDigest::of(&bytes));
        *file = name.clone();
        if !meshes.iter().any(|known: &MeshCopy| known.name == name) {
            meshes.push(MeshCopy { name, bytes });
        }
    });
    if meshes.is_empty() { unchanged() } else { BundledScene { text: document.to_string(), meshes } }
}

/// Returns the mesh files that the scene of a result names, each once.
pub(super) fn mesh_files(scene_text: &str) -> Vec<String> {
    let Ok(mut document) = scene_text.parse::<DocumentMut>() else { return Vec::new() };
    let mut files = Vec::new();
    visit_table(document.as_table_mut(), false, &mut |file| files.push(file.clone()));
    files.sort_unstable();
    files.dedup();
    files
}

/// Checks that the content of a mesh file of a result is what its name, the digest, says; returns its size (bytes).
pub(super) fn check_mesh(path: &Path) -> Result<u64, ResultError> {
    let bytes = std::fs::read(path).map_err(|source| ResultError::io("read", path, source))?;
    let name = path.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy());
    if *name != ContentDigest::of(&bytes).to_string() {
        return Err(ResultError::damaged(path, "its content is not that of the mesh that was run"));
    }
    Ok(bytes.len() as u64)
}

/// Embeds the buffers of a glTF text that are files beside it; `None` if there are none or they cannot be read.
fn with_buffers_inside(bytes: &[u8], path: &Path) -> Option<Vec<u8>> {
    let mut document: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let mut is_changed = false;
    for buffer in document.get_mut("buffers")?.as_array_mut()? {
        let Some(uri) = buffer["uri"].as_str().filter(|uri| !uri.contains(':')) else { continue };
        let data = gltf_file::read_beside(path.parent()?, uri).ok()?;
        buffer["uri"] = format!("data:application/octet-stream;base64,{}", base64::encode(&data)).into();
        is_changed = true;
    }
    is_changed.then(|| document.to_string().into_bytes())
}

/// Calls `change` with every `file` of every table `mesh`.
fn visit_table(table: &mut dyn TableLike, is_mesh: bool, change: &mut impl FnMut(&mut String)) {
    for (key, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => visit_table(inner, key == "mesh", change),
            Item::ArrayOfTables(tables) => {
                tables.iter_mut().for_each(|inner| visit_table(inner, false, change))
            }
            Item::Value(value) if is_mesh && key == "file" => visit_file(value, change),
            Item::Value(value) => visit_value(value, key == "mesh", change),
            Item::None => {}
        }
    }
}

fn visit_value(value: &mut Value, is_mesh: bool, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::InlineTable(table) => visit_table(table, is_mesh, change),
        Value::Array(array) => array.iter_mut().for_each(|inner| visit_value(inner, false, change)),
        _ => {}
    }
}

fn visit_file(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    let Some(mut file) = value.as_str().map(str::to_owned) else { return };
    change(&mut file);
    let decor = value.decor().clone();
    *value = Value::from(file);
    *value.decor_mut() = decor;
}

#[cfg(test)]
mod tests {
    use super::super::folder::tests::TemporaryFolder;
    use super::*;

    #[test]
    fn meshes_are_named_by_content_wherever_they_stand() {
        let folder = TemporaryFolder::new("meshes");
        std::fs::write(folder.path().join("a.OBJ"), b"one").unwrap();
        std::fs::write(folder.path().join("b.stl"), b"two").unwrap();
        let scene = "# kept\n[[bodies]]\nshape.mesh = { file = \"a.OBJ\" } # here\n\
            [[bodies]]\nshape.mesh.file = \"b.stl\"\n\
            [[obstacles]]\nshape.union = [{ mesh = { file = \"a.OBJ\" }, position = [0, 0, 0] }]\n\
            [[obstacles]]\nshape.mesh = { file = \"missing.obj\" }\n[other]\nfile = \"a.OBJ\"\n";
        let bundled = bundle_meshes(scene, folder.path());
        let a = format!("meshes/{}.obj", ContentDigest::of(b"one"));
        let b = format!("meshes/{}.stl", ContentDigest::of(b"two"));
        let names: Vec<&str> = bundled.meshes.iter().map(|mesh| mesh.name.as_str()).collect();
        assert_eq!(names, [a.as_str(), b.as_str()]);
        assert_eq!(bundled.text.matches(&a).count(), 2);
        assert_eq!(bundled.text.matches(&b).count(), 1);
        assert!(bundled.text.starts_with("# kept\n") && bundled.text.contains("# here"));
        assert!(bundled.text.contains("missing.obj") && bundled.text.contains("[other]\nfile = \"a.OBJ\""));
    }

    /// Checks that the copy of a triangle with its data in a file beside it is the same mesh when that file is removed.
    #[test]
    fn buffers_of_gltf_files_come_along() {
        let folder = TemporaryFolder::new("meshes_gltf");
        let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]];
        let data: Vec<u8> = corners.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(folder.path().join("the data.bin"), &data).unwrap();
        let gltf = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                "min": [0, 0, 0], "max": [1, 1, 0.5]}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}],
            "buffers": [{"byteLength": 36, "uri": "the%20data.bin"}]}"#;
        std::fs::write(folder.path().join("a.gltf"), gltf).unwrap();
        let original = crate::mesh::read(&folder.path().join("a.gltf")).unwrap();
        let bundled = bundle_meshes("shape.mesh.file = \"a.gltf\"", folder.path());
        std::fs::remove_file(folder.path().join("the data.bin")).unwrap();
        let copy = folder.path().join("copy.gltf");
        std::fs::write(&copy, &bundled.meshes[0].bytes).unwrap();
        assert_eq!(crate::mesh::read(&copy).unwrap().vertices(), original.vertices());
    }

    #[test]
    fn a_scene_without_meshes_keeps_every_byte() {
        let scene = "a =   1 # odd  blanks\n";
        assert_eq!(bundle_meshes(scene, Path::new(".")).text, scene);
        assert_eq!(bundle_meshes("not toml [", Path::new(".")).text, "not toml [");
    }
}
