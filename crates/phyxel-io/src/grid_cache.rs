//! Distance grids of mesh obstacles, kept between runs in a folder of the user: the same obstacle starts at once.
//!
//! A file begins with [`OPENING`], the CRC-32 of what follows, and the number of values; then the values, compressed by
//! zstd. Files that are damaged count as missing, and the grid is computed again. What cannot be written is not kept.

use crate::read_file;
use crate::results::atomic::{Durability, write_atomically};
use phyxel::geometry::GridStore;
use std::fs::{self, File, FileTimes};
use std::io::Read;
use std::path::PathBuf;
use std::time::SystemTime;

const OPENING: &[u8] = b"phyxel distance grid 1\n";
/// Grids with fewer values are computed quickly and are not kept.
const LEAST_VALUES: usize = 200_000;
/// Most values of a file.
const MOST_VALUES: u64 = 1 << 25;
/// Size of the folder beyond which the files that were not used for longest are removed (bytes).
const MOST_BYTES: u64 = 1 << 30;
/// Level of zstd, chosen for speed.
const COMPRESSION_LEVEL: i32 = 1;

/// A folder of grids.
#[derive(Clone, Debug)]
pub struct GridCache {
    folder: PathBuf,
}

impl GridCache {
    /// Creates a cache in a folder, which is made when a grid is kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the cache in the folder that the environment names: `PHYXEL_CACHE`, of which an empty value means none,
    /// else `phyxel` in the system's folder for caches.
    pub fn of_user() -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
        if let Some(folder) = folder("PHYXEL_CACHE") {
            return (!folder.as_os_str().is_empty()).then(|| Self::new(folder));
        }
        let caches = folder("XDG_CACHE_HOME").or_else(|| folder("LOCALAPPDATA"));
        let caches = caches.or_else(|| folder("HOME").map(|home| home.join(".cache")));
        caches.filter(|folder| folder.is_absolute()).map(|folder| Self::new(folder.join("phyxel")))
    }

    fn path(&self, key: u64) -> PathBuf {
        self.folder.join(format!("{key:016x}.grid"))
    }

    /// Removes the files that were not used for longest, until the folder is small enough.
    fn tidy(&self) -> std::io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let (path, about) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            if path.extension().is_some_and(|ending| ending == "grid") {
                files.push((about.modified()?, about.len(), path));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|file| file.1).sum();
        for (_, size, path) in files {
            if total <= MOST_BYTES {
                break;
            }
            fs::remove_file(path)?;
            total -= size;
        }
        Ok(())
    }
}

impl GridStore for GridCache {
    fn load(&self, key: u64) -> Option<Vec<f32>> {
        let path = self.path(key);
        let values = decoded(&read_file(&path, MOST_BYTES).ok()?)?;
        // the time of the last use, by which files are removed
        let used = File::options().append(true).open(&path);
        let _ = used.and_then(|file| file.set_times(FileTimes::new().set_modified(SystemTime::now())));
        Some(values)
    }

    fn keep(&self, key: u64, values: &[f32]) {
        if values.len() < LEAST_VALUES || fs::create_dir_all(&self.folder).is_err() {
            return;
        }
        let Some(bytes) = encoded(values) else { return };
        if write_atomically(&self.path(key), &bytes, Durability::Process).is_ok() {
            let _ = self.tidy();
        }
    }
}

fn encoded(values: &[f32]) -> Option<Vec<u8>> {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut rest = (values.len() as u64).to_le_bytes().to_vec();
    rest.extend(zstd::encode_all(&raw[..], COMPRESSION_LEVEL).ok()?);
    Some([OPENING, &crc32fast::hash(&rest).to_le_bytes(), &rest].concat())
}

/// Returns the values of a file; `None` if it is damaged.
fn decoded(bytes: &[u8]) -> Option<Vec<f32>> {
    let (checksum, rest) = bytes.strip_prefix(OPENING)?.split_first_chunk::<4>()?;
    let (n, packed) = rest.split_first_chunk::<8>()?;
    let n = u64::from_le_bytes(*n);
    if u32::from_le_bytes(*checksum) != crc32fast::hash(rest) || n > MOST_VALUES {
        return None;
    }
    let mut raw = Vec::new();
    zstd::stream::read::Decoder::new(packed).ok()?.take(4 * n + 1).read_to_end(&mut raw).ok()?;
    let (values, left) = raw.as_chunks::<4>();
    let is_whole = values.len() as u64 == n && left.is_empty();
    is_whole.then(|| values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_grids_are_kept_and_damaged_ones_are_missing() {
        let folder = std::env::temp_dir().join(format!("phyxel-grids-{}", std::process::id()));
        let cache = GridCache::new(folder.join("made"));
        let values: Vec<f32> = (0..LEAST_VALUES).map(|k| k as f32 * 0.1 - 7.0).collect();
        assert!(cache.load(7).is_none());
        cache.keep(8, &values[1..]);
        assert!(cache.load(8).is_none());
        cache.keep(7, &values);
        assert!(cache.load(7).is_some_and(|loaded| loaded == values));
        let whole = fs::read(cache.path(7)).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..30], b""] {
            fs::write(cache.path(7), damaged).unwrap();
            assert!(cache.load(7).is_none());
        }
        for k in [0, 25, 40, whole.len() / 2] {
            let mut damaged = whole.clone();
            damaged[k] ^= 4;
            fs::write(cache.path(7), damaged).unwrap();
            assert!(cache.load(7).is_none(), "byte {k}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
