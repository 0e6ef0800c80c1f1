//! `ledger.csv`: one row of sums per frame, numbers in the shortest form that reads back as the same bits.
//!
//! The last cell of a row is the CRC-32 of all bytes of the file before it, so that rows are checked as they grow.

use super::ResultError;
use super::atomic::{Durability, write_atomically};
use super::seal::digits;
use crc32fast::Hasher;
use phyxel::math::Vec3;
use phyxel::world::{Ledger, SamplingQuality};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the columns and values of a row; this is the only definition of the columns of a ledger.
pub(crate) fn cells(ledger: &Ledger) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    let mut put = |name: &str, value: String| cells.push((name.to_owned(), value));
    put("time", number(ledger.time));
    put("time_step", number(ledger.time_step));
    put("time_step_reason", quoted(ledger.time_step_reason));
    put("steps", ledger.n_steps.to_string());
    put("kinetic_energy", number(ledger.kinetic_energy));
    put("elastic_energy", known(ledger.elastic_energy));
    let parts = ledger.elastic_parts;
    put("deviatoric_energy", known(parts.map(|parts| parts.deviatoric)));
    put("volumetric_energy", known(parts.map(|parts| parts.volumetric)));
    put("residual_energy", known(parts.map(|parts| parts.residual)));
    put("repulsion_energy", known(parts.map(|parts| parts.repulsion)));
    put("gravity_energy", number(ledger.gravity_energy));
    put("plastic_work", number(ledger.plastic_work));
    let balance = ledger.balance;
    put("heat", known(balance.map(|balance| balance.heat)));
    put("obstacle_work", known(balance.map(|balance| balance.obstacle_work)));
    put("grip_work", known(balance.map(|balance| balance.grip_work)));
    put("field_work", known(balance.map(|balance| balance.field_work)));
    put("hand_work", known(balance.map(|balance| balance.hand_work)));
    put("contact_gain", known(balance.map(|balance| balance.gain)));
    put("energy_error", known(balance.map(|balance| balance.error)));
    put("energy_error_percent", known(balance.map(|balance| 100.0 * balance.relative_error())));
    put_vector(&mut cells, "momentum", ledger.momentum);
    put_vector(&mut cells, "angular_momentum", ledger.angular_momentum);
    let mut put = |name: &str, value: String| cells.push((name.to_owned(), value));
    put("volume", number(ledger.volume));
    let ratios = || ledger.bodies.iter().map(|body| body.volume_ratio);
    put("least_volume_ratio", known(ratios().reduce(f64::min)));
    put("largest_volume_ratio", known(ratios().reduce(f64::max)));
    put("inverted", ledger.bodies.iter().map(|body| body.n_inverted).sum::<usize>().to_string());
    put("particles", ledger.n_particles.to_string());
    let SamplingQuality { nearest_median, nearest_smallest, n_crowded, n_pieces } = ledger.sampling;
    put("nearest_median", known(nearest_median));
    put("nearest_smallest", known(nearest_smallest));
    put("crowded", n_crowded.to_string());
    put("pieces", n_pieces.map_or(String::new(), |n| n.to_string()));
    put("yielded", ledger.n_yielded.to_string());
    put("pinched", ledger.n_pinched.to_string());
    put("max_speed", number(ledger.max_speed));
    for (name, force) in &ledger.forces {
        put_vector(&mut cells, &format!("{name}_force"), *force);
    }
    for (name, torque) in &ledger.torques {
        put_vector(&mut cells, &format!("{name}_torque"), *torque);
    }
    cells.extend(ledger.counters.iter().map(|(name, value)| ((*name).to_owned(), number(*value))));
    cells
}

fn put_vector(cells: &mut Vec<(String, String)>, name: &str, vector: Vec3) {
    let components = ["x", "y", "z"].into_iter().zip(vector.to_array());
    cells.extend(components.map(|(axis, value)| (format!("{name}_{axis}"), number(value))));
}

/// Formats a number with Debug instead of Display, because Debug writes 1e-300 as such.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// Formats a number, or an empty cell if the method has no such number.
fn known(value: Option<f64>) -> String {
    value.map_or(String::new(), number)
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    let mut line = cells.collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

/// Appends rows to a ledger.
#[derive(Debug)]
pub struct LedgerWriter {
    path: PathBuf,
    file: File,
    /// The header line, once it is written.
    header: Option<String>,
    /// Checksum of all bytes so far.
    checksum: Hasher,
}

/// Name of the column with the checksums, the last one.
const CHECKSUM: &str = "checksum";

impl LedgerWriter {
    /// Creates an empty ledger; the header is written with the first row.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        let file = File::create(path).map_err(|source| ResultError::io("write", path, source))?;
        Ok(Self { path: path.to_owned(), file, header: None, checksum: Hasher::new() })
    }

    /// Cuts a ledger back to its first `n_rows` rows; returns the writer that continues after them.
    ///
    /// # Errors
    /// When there are fewer rows, or the file cannot be read or written.
    pub fn cut_back(path: &Path, n_rows: usize) -> Result<Self, ResultError> {
        let bytes = std::fs::read(path).map_err(|source| ResultError::io("read", path, source))?;
        let text = String::from_utf8_lossy(&bytes);
        // a last line without a line end was being written when the run stopped
        let n_lines = text.matches('\n').count();
        if n_lines < n_rows + 1 {
            let problem = format!("{n_rows} rows are expected, {} are there", n_lines.saturating_sub(1));
            return Err(ResultError::damaged(path, problem));
        }
        let kept: String = text.split_inclusive('\n').take(n_rows + 1).collect();
        LedgerTable::parse(&kept).map_err(|problem| ResultError::damaged(path, problem))?;
        if kept.len() < bytes.len() {
            write_atomically(path, kept.as_bytes(), Durability::Power)?;
        }
        let mut checksum = Hasher::new();
        checksum.update(kept.as_bytes());
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|source| ResultError::io("write", path, source))?;
        let header = kept.split_inclusive('\n').next().map(str::to_owned);
        Ok(Self { path: path.to_owned(), file, header, checksum })
    }

    /// Appends a row and passes it to the system without delay.
    ///
    /// # Errors
    /// When the row cannot be written, or its columns are not those of the rows before.
    pub fn append(&mut self, ledger: &Ledger) -> Result<(), ResultError> {
        let cells = cells(ledger);
        let header = joined(cells.iter().map(|cell| quoted(&cell.0)).chain([CHECKSUM.to_owned()]));
        // ends with the comma before the checksum
        let row: String = cells.into_iter().map(|cell| cell.1 + ",").collect();
        let mut text = match &self.header {
            None => format!("{header}{row}"),
            Some(known) if *known == header => row,
            Some(_) => {
                return Err(ResultError::damaged(
                    &self.path,
                    "its columns are not those of this version and scene",
                ));
            }
        };
        self.header = Some(header);
        self.checksum.update(text.as_bytes());
        let end = digits(self.checksum.clone().finalize()) + "\n";
        self.checksum.update(end.as_bytes());
        text += &end;
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| ResultError::io("write", &self.path, source))
    }

    /// Makes sure that all rows survive a loss of power.
    pub(super) fn sync(&self) -> Result<(), ResultError> {
        #[cfg(test)]
        super::atomic::journal::note(super::atomic::journal::Done::Synced, &self.path);
        self.file.sync_data().map_err(|source| ResultError::io("write", &self.path, source))
    }
}

/// A ledger that was read from its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// One row per frame, cells as written.
    pub rows: Vec<Vec<String>>,
}

impl LedgerTable {
    /// Reads the text of a ledger and checks it; the column of checksums is left out.
    ///
    /// # Errors
    /// When the text is damaged; the error names the first row that is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (table, damage) = Self::parse_sound(text);
        damage.map_or(Ok(table), Err)
    }

    /// Reads all rows before the first damaged one, and describes the damage.
    pub(super) fn parse_sound(text: &str) -> (Self, Option<String>) {
        let mut lines = text.split_inclusive('\n');
        let header = lines.next().unwrap_or_default();
        let mut columns = split_line(header.trim_end_matches('\n'));
        if columns.pop().as_deref() != Some(CHECKSUM) {
            return (Self::default(), Some("it has no header, or not that of this version".into()));
        }
        let mut table = Self { columns, rows: Vec::new() };
        let mut checksum = Hasher::new();
        checksum.update(header.as_bytes());
        for line in lines {
            let (row, found) = line.rsplit_once(',').unwrap_or_default();
            checksum.update(row.as_bytes());
            checksum.update(b",");
            let cells = split_line(row);
            let is_whole = found.strip_suffix('\n') == Some(&digits(checksum.clone().finalize()));
            if !is_whole || cells.len() != table.columns.len() {
                let problem = format!("row {} is damaged: its checksum is wrong", table.rows.len());
                return (table, Some(problem));
            }
            checksum.update(found.as_bytes());
            table.rows.push(cells);
        }
        (table, None)
    }

    /// Returns the text of a file with these rows, with their checksums.
    pub fn to_text(&self) -> String {
        let mut text = joined(self.columns.iter().map(|cell| quoted(cell)).chain([CHECKSUM.to_owned()]));
        for row in &self.rows {
            text.extend(row.iter().map(|cell| quoted(cell) + ","));
            text += &(digits(crc32fast::hash(text.as_bytes())) + "\n");
        }
        text
    }

    /// Returns a column as numbers, NaN for empty cells; `None` if there is no such column.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let at = self.columns.iter().position(|column| column == name)?;
        Some(self.rows.iter().map(|row| row[at].parse().unwrap_or(f64::NAN)).collect())
    }
}

fn split_line(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = cells.len() - 1;
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => cells[last].extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells[last].push(character),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::folder::tests::TemporaryFolder;
    use super::*;
    use phyxel::math::vec3;

    fn ledger(time: f64) -> Ledger {
        Ledger {
            time,
            time_step: 1e-300,
            time_step_reason: "stiffness",
            n_steps: 7,
            kinetic_energy: 0.1 + 0.2,
            elastic_energy: None,
            elastic_parts: None,
            gravity_energy: -1.0,
            plastic_work: 0.0,
            balance: None,
            momentum: vec3(1.0, 2.0, 3.0),
            angular_momentum: vec3(4.0, 5.0, 6.0),
            volume: 1.0 / 3.0,
            n_particles: 8,
            bodies: Vec::new(),
            sampling: SamplingQuality {
                nearest_median: Some(1.0),
                nearest_smallest: Some(0.5),
                n_crowded: 3,
                n_pieces: None,
            },
            n_yielded: 2,
            n_pinched: 1,
            max_speed: f64::MAX,
            forces: vec![("left, \"upper\"".into(), vec3(7.0, 8.0, 9.0))],
            torques: vec![("floor".into(), vec3(1.0, 0.0, 2.0))],
            counters: vec![("solver_iterations", 3.0)],
        }
    }

    #[test]
    fn columns_are_those_of_the_contract_and_numbers_keep_their_bits() {
        let folder = TemporaryFolder::new("ledger");
        let path = folder.path().join("ledger.csv");
        let mut writer = LedgerWriter::create(&path).unwrap();
        writer.append(&ledger(0.0)).unwrap();
        writer.append(&ledger(1.0 / 30.0)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let header = "time,time_step,time_step_reason,steps,kinetic_energy,elastic_energy,deviatoric_energy,\
            volumetric_energy,residual_energy,repulsion_energy,gravity_energy,plastic_work,\
            heat,obstacle_work,grip_work,field_work,hand_work,contact_gain,energy_error,energy_error_percent,\
            momentum_x,momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z,volume,least_volume_ratio,largest_volume_ratio,inverted,particles,\
            nearest_median,nearest_smallest,crowded,pieces,yielded,pinched,max_speed,\"left, \"\"upper\"\"_force_x\",\"left, \"\"upper\"\"_force_y\",\
            \"left, \"\"upper\"\"_force_z\",floor_torque_x,floor_torque_y,floor_torque_z,solver_iterations,checksum\n";
        assert!(text.starts_with(header), "{text}");
        let table = LedgerTable::parse(&text).unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.to_text(), text);
        assert_eq!(table.columns[38], "left, \"upper\"_force_x");
        assert_eq!(table.rows[0][5..10], [""; 5], "no elastic energy is an empty cell");
        let bits = |name: &str| table.numbers(name).unwrap()[1].to_bits();
        assert_eq!(bits("time"), (1.0f64 / 30.0).to_bits());
        assert_eq!(bits("kinetic_energy"), (0.1f64 + 0.2).to_bits());
        assert_eq!(bits("time_step"), 1e-300f64.to_bits());
        assert_eq!(bits("max_speed"), f64::MAX.to_bits());
    }

    #[test]
    fn cutting_back_drops_later_and_half_written_rows_and_goes_on() {
        let folder = TemporaryFolder::new("ledger_cut");
        let path = folder.path().join("ledger.csv");
        let mut whole = LedgerWriter::create(&path).unwrap();
        (0..5).for_each(|k| whole.append(&ledger(f64::from(k))).unwrap());
        let expected = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&expected[..], b"5.0,0.0"].concat()).unwrap();
        let mut writer = LedgerWriter::cut_back(&path, 3).unwrap();
        let table = LedgerTable::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(table.numbers("time").unwrap(), [0.0, 1.0, 2.0]);
        (3..5).for_each(|k| writer.append(&ledger(f64::from(k))).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        assert!(LedgerWriter::cut_back(&path, 6).is_err());
        let other = Ledger { forces: Vec::new(), ..ledger(5.0) };
        assert!(writer.append(&other).is_err(), "rows of another scene");
    }

    #[test]
    fn every_changed_byte_is_found_with_its_row() {
        let folder = TemporaryFolder::new("ledger_damage");
        let path = folder.path().join("ledger.csv");
        let mut writer = LedgerWriter::create(&path).unwrap();
        (0..3).for_each(|k| writer.append(&ledger(f64::from(k))).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(LedgerTable::parse(std::str::from_utf8(&bytes).unwrap()).unwrap().rows.len(), 3);
        let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let (table, damage) = LedgerTable::parse_sound(&String::from_utf8_lossy(&changed));
            assert!(damage.is_some(), "byte {at}");
            // a row is checked together with the end of its line
            let row = ends[1..].iter().position(|&end| at <= end).unwrap();
            assert!(table.rows.len() <= row, "byte {at}: {} rows", table.rows.len());
        }
        let text = String::from_utf8(bytes).unwrap();
        let without_a_row: String =
            text.split_inclusive('\n').enumerate().filter(|l| l.0 != 2).map(|l| l.1).collect();
        assert!(LedgerTable::parse(&without_a_row).unwrap_err().contains("row 1"));
    }
}
