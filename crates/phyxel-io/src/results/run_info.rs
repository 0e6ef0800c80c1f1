//! Metadata of a run, the file `run.json`.

use super::{ContentDigest, SurfaceKind};
use serde_json::{Map, Value, json};

/// State of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The run is being computed, or ended without a message (killed, power lost).
    Running,
    /// The run is finished, with all frames.
    Done,
    /// The run could not continue, for this reason.
    Failed(String),
    /// The user stopped the run.
    Interrupted,
}

/// A body of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyInfo {
    /// Name of the body; frames refer to a body by its index in the list.
    pub name: String,
    /// Key of the method that simulates the body.
    pub method: String,
    /// Name of its material.
    pub material: String,
    /// Number of particles at the start.
    pub n_particles: usize,
    /// Kind of surface that is written for the body, if any.
    pub surface: Option<SurfaceKind>,
}

/// Time and memory that a run used, summed over the run and its continuations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Name and time of each stage (s), in the order of first use.
    pub stages: Vec<(String, f64)>,
    /// Number of steps.
    pub n_steps: u64,
    /// Sum of the number of particles over all steps.
    pub particle_steps: u64,
    /// Elapsed real time since the start (s).
    pub wall_seconds: f64,
    /// Largest memory use of the process (bytes), if the system tells it.
    pub peak_memory: Option<u64>,
}

impl Tally {
    /// Returns the sum of this tally and an earlier one.
    pub fn after(&self, earlier: &Self) -> Self {
        let mut stages = earlier.stages.clone();
        for (name, seconds) in &self.stages {
            match stages.iter_mut().find(|stage| stage.0 == *name) {
                Some(stage) => stage.1 += seconds,
                None => stages.push((name.clone(), *seconds)),
            }
        }
        Self {
            stages,
            n_steps: earlier.n_steps.saturating_add(self.n_steps),
            particle_steps: earlier.particle_steps.saturating_add(self.particle_steps),
            wall_seconds: earlier.wall_seconds + self.wall_seconds,
            peak_memory: self.peak_memory.max(earlier.peak_memory),
        }
    }
}

/// Metadata of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// Version of the program that started the run.
    pub version: String,
    /// Digest of the scene as it was run.
    pub scene_digest: ContentDigest,
    /// Title of the scene, or the name of its file.
    pub title: String,
    /// Keys of the methods, each once.
    pub methods: Vec<String>,
    /// Bodies, in the order of the scene.
    pub bodies: Vec<BodyInfo>,
    /// Names of the requested columns.
    pub columns: Vec<String>,
    /// Number of frames per second (1/s).
    pub frame_rate: f64,
    /// Number of the last frame when the run is done.
    pub n_frames: usize,
    /// Time of each frame written (s).
    pub frame_times: Vec<f64>,
    /// Number of particles in each frame written.
    pub frame_particles: Vec<usize>,
    /// State of the run.
    pub status: Status,
    /// Number of threads.
    pub n_threads: usize,
    /// Time and memory used.
    pub tally: Tally,
}

const FORMAT: u64 = 2;

impl RunInfo {
    /// Returns the text of the file.
    pub fn to_json(&self) -> String {
        let (status, why) = match &self.status {
            Status::Running => ("running", None),
            Status::Done => ("done", None),
            Status::Failed(why) => ("failed", Some(why)),
            Status::Interrupted => ("interrupted", None),
        };
        let bodies: Vec<Value> = self.bodies.iter().map(body_to_json).collect();
        let stages: Map<String, Value> =
            self.tally.stages.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let value = json!({
            "format": FORMAT,
            "version": self.version,
            "status": status,
            "why": why,
            "title": self.title,
            "scene_digest": self.scene_digest.to_string(),
            "methods": self.methods,
            "bodies": bodies,
            "columns": self.columns,
            "frame_rate": self.frame_rate,
            "n_frames": self.n_frames,
            "n_frames_written": self.frame_times.len(),
            "threads": self.n_threads,
            "steps": self.tally.n_steps,
            "particle_steps": self.tally.particle_steps,
            "wall_seconds": self.tally.wall_seconds,
            "stage_seconds": stages,
            "peak_memory_bytes": self.tally.peak_memory,
            "frame_times": self.frame_times,
            "particles": self.frame_particles,
        });
        // a value made of numbers and strings can always be written as text
        serde_json::to_string_pretty(&value).map_or_else(|_| value.to_string(), |text| text + "\n")
    }

    /// Reads the metadata from the text of a file.
    ///
    /// # Errors
    /// When an entry is missing or wrong; the error names it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        if value["format"].as_u64() != Some(FORMAT) {
            return Err(format!("its format is {}; this program reads format {FORMAT}", value["format"]));
        }
        let status = match text_at(&value, "status")?.as_str() {
            "running" => Status::Running,
            "done" => Status::Done,
            "failed" => Status::Failed(value["why"].as_str().unwrap_or_default().to_owned()),
            "interrupted" => Status::Interrupted,
            other => return Err(format!("unknown status \"{other}\"")),
        };
        let digest = text_at(&value, "scene_digest")?;
        Ok(Self {
            version: text_at(&value, "version")?,
            scene_digest: digest.parse().map_err(|_| format!("bad scene_digest \"{digest}\""))?,
            title: text_at(&value, "title")?,
            methods: list_at(&value, "methods", text_of)?,
            bodies: list_at(&value, "bodies", body_from_json)?,
            columns: list_at(&value, "columns", text_of)?,
            frame_rate: value["frame_rate"].as_f64().ok_or("frame_rate is missing")?,
            n_frames: count(&value["n_frames"]).ok_or("n_frames is missing")?,
            frame_times: list_at(&value, "frame_times", Value::as_f64)?,
            frame_particles: list_at(&value, "particles", count)?,
            status,
            n_threads: count(&value["threads"]).unwrap_or(1),
            tally: tally_from_json(&value),
        })
    }
}

/// Returns a body as it stands in files and in messages to pages.
pub(crate) fn body_to_json(body: &BodyInfo) -> Value {
    json!({
        "name": body.name,
        "method": body.method,
        "material": body.material,
        "particles": body.n_particles,
        "surface": body.surface.map(SurfaceKind::key),
    })
}

fn body_from_json(value: &Value) -> Option<BodyInfo> {
    Some(BodyInfo {
        name: text_of(&value["name"])?,
        method: text_of(&value["method"])?,
        material: text_of(&value["material"])?,
        n_particles: count(&value["particles"])?,
        surface: value["surface"].as_str().and_then(SurfaceKind::of_key),
    })
}

fn tally_from_json(value: &Value) -> Tally {
    let stages = value["stage_seconds"].as_object().into_iter().flatten();
    Tally {
        stages: stages.filter_map(|(name, seconds)| Some((name.clone(), seconds.as_f64()?))).collect(),
        n_steps: value["steps"].as_u64().unwrap_or(0),
        particle_steps: value["particle_steps"].as_u64().unwrap_or(0),
        wall_seconds: value["wall_seconds"].as_f64().unwrap_or(0.0),
        peak_memory: value["peak_memory_bytes"].as_u64(),
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn text_at(value: &Value, key: &str) -> Result<String, String> {
    text_of(&value[key]).ok_or_else(|| format!("{key} is missing"))
}

fn list_at<T>(value: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
    let list = value[key].as_array().and_then(|list| list.iter().map(read).collect::<Option<Vec<T>>>());
    list.ok_or_else(|| format!("{key} is missing"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn info() -> RunInfo {
        RunInfo {
            version: "0.1.0".into(),
            scene_digest: ContentDigest::of(b"scene"),
            title: "A \"block\"".into(),
            methods: vec!["some".into()],
            bodies: vec![BodyInfo {
                name: "block".into(),
                method: "some".into(),
                material: "jelly".into(),
                n_particles: 64,
                surface: Some(SurfaceKind::Skin),
            }],
            columns: vec!["velocity".into()],
            frame_rate: 60.0,
            n_frames: 8,
            frame_times: vec![0.0, 1.0 / 60.0],
            frame_particles: vec![64, 64],
            status: Status::Failed("at 0.1 s".into()),
            n_threads: 2,
            tally: Tally {
                stages: vec![("forces".into(), 0.25), ("deformation".into(), 0.5)],
                n_steps: 9,
                particle_steps: 9 * 64,
                wall_seconds: 1.5,
                peak_memory: Some(1 << 20),
            },
        }
    }

    #[test]
    fn information_comes_back_as_it_was() {
        let info = info();
        assert_eq!(RunInfo::from_json(&info.to_json()), Ok(info.clone()));
        for status in [Status::Running, Status::Done, Status::Interrupted] {
            let info = RunInfo { status, ..info.clone() };
            assert_eq!(RunInfo::from_json(&info.to_json()).unwrap().status, info.status);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let whole: Value = serde_json::from_str(&info().to_json()).unwrap();
        for key in ["format", "status", "scene_digest", "bodies", "frame_rate", "frame_times"] {
            let mut value = whole.clone();
            value.as_object_mut().unwrap().remove(key);
            let error = RunInfo::from_json(&value.to_string()).unwrap_err();
            assert!(error.contains(key), "{key}: {error}");
        }
        assert!(RunInfo::from_json("{").unwrap_err().contains("JSON"));
    }

    #[test]
    fn a_continuation_adds_up() {
        let tally = info().tally;
        let both = tally.after(&tally);
        assert_eq!((both.n_steps, both.wall_seconds), (18, 3.0));
        let endless = Tally { n_steps: u64::MAX, particle_steps: u64::MAX, ..tally.clone() };
        assert_eq!(tally.after(&endless).n_steps, u64::MAX, "numbers of a file do not overflow");
        assert_eq!(both.stages, [("forces".to_owned(), 0.5), ("deformation".to_owned(), 1.0)]);
    }
}
