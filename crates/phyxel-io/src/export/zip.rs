//! Zip archives without compression, whose entries are filled in any order: sizes are given first, checksums come last.
//!
//! The format follows PKWARE's APPNOTE 6.3. Entries beyond 4 GiB and archives beyond 4 GiB have the Zip64 fields.

use std::io::{self, Seek, SeekFrom, Write};

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const CENTRAL_END: u32 = 0x0605_4b50;
const CENTRAL_END_64: u32 = 0x0606_4b50;
const CENTRAL_LOCATOR_64: u32 = 0x0706_4b50;
/// Offset of the checksum in a local header (bytes).
const CHECKSUM_OFFSET: u64 = 14;
/// Marker in a 32-bit field: the true number is in the Zip64 field.
const IN_ZIP64: u32 = u32::MAX;
const VERSION_PLAIN: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// Date of all entries: 1 January 1980, the first day of zip, so that the same export has the same bytes on every day.
const DOS_DATE: u16 = 0x21;

/// An archive that is being written.
pub(super) struct Zip<W> {
    out: W,
    /// Offset at which the next entry begins (bytes).
    end: u64,
    entries: Vec<Entry>,
}

/// Number of an entry, in the order of creation.
#[derive(Clone, Copy)]
pub(super) struct EntryNumber(usize);

struct Entry {
    name: String,
    /// Offset of the local header (bytes).
    offset: u64,
    size: u64,
    n_written: u64,
    data_offset: u64,
    crc: Crc32,
}

impl<W: Write + Seek> Zip<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, end: 0, entries: Vec::new() }
    }

    /// Writes the header of an entry and reserves room for its `size` bytes.
    pub(super) fn entry(&mut self, name: String, size: u64) -> io::Result<EntryNumber> {
        let needs_64 = size >= u64::from(IN_ZIP64);
        let size_32 = small(size);
        let mut header = Vec::new();
        put_32(&mut header, &[LOCAL_HEADER]);
        put_16(&mut header, &[version(needs_64), 0, 0, 0, DOS_DATE]);
        put_32(&mut header, &[0, size_32, size_32]);
        put_16(&mut header, &[name.len() as u16, if needs_64 { 20 } else { 0 }]);
        header.extend_from_slice(name.as_bytes());
        if needs_64 {
            put_16(&mut header, &[1, 16]);
            put_64(&mut header, &[size, size]);
        }
        self.out.seek(SeekFrom::Start(self.end))?;
        self.out.write_all(&header)?;
        let data_offset = self.end + header.len() as u64;
        self.entries.push(Entry {
            name,
            offset: self.end,
            size,
            n_written: 0,
            data_offset,
            crc: Crc32::default(),
        });
        self.end = data_offset + size;
        Ok(EntryNumber(self.entries.len() - 1))
    }

    /// Writes the next bytes of an entry.
    pub(super) fn append(&mut self, EntryNumber(number): EntryNumber, bytes: &[u8]) -> io::Result<()> {
        let entry = &mut self.entries[number];
        if entry.n_written + bytes.len() as u64 > entry.size {
            return Err(io::Error::other(format!("{} is larger than announced", entry.name)));
        }
        self.out.seek(SeekFrom::Start(entry.data_offset + entry.n_written))?;
        self.out.write_all(bytes)?;
        entry.n_written += bytes.len() as u64;
        entry.crc.add(bytes);
        Ok(())
    }

    /// Writes the checksums and the central directory.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let mut directory = Vec::new();
        for entry in &self.entries {
            if entry.n_written != entry.size {
                return Err(io::Error::other(format!("{} is smaller than announced", entry.name)));
            }
            let crc = entry.crc.value();
            self.out.seek(SeekFrom::Start(entry.offset + CHECKSUM_OFFSET))?;
            self.out.write_all(&crc.to_le_bytes())?;
            entry.describe(crc, &mut directory);
        }
        let (n_entries, size, offset) = (self.entries.len() as u64, directory.len() as u64, self.end);
        if n_entries >= u64::from(u16::MAX) || offset + size >= u64::from(IN_ZIP64) {
            let end_64 = offset + size;
            put_32(&mut directory, &[CENTRAL_END_64]);
            put_64(&mut directory, &[44]);
            put_16(&mut directory, &[VERSION_ZIP64, VERSION_ZIP64]);
            put_32(&mut directory, &[0, 0]);
            put_64(&mut directory, &[n_entries, n_entries, size, offset]);
            put_32(&mut directory, &[CENTRAL_LOCATOR_64, 0]);
            put_64(&mut directory, &[end_64]);
            put_32(&mut directory, &[1]);
        }
        let few = n_entries.min(u64::from(u16::MAX)) as u16;
        put_32(&mut directory, &[CENTRAL_END]);
        put_16(&mut directory, &[0, 0, few, few]);
        put_32(&mut directory, &[small(size), small(offset)]);
        put_16(&mut directory, &[0]);
        self.out.seek(SeekFrom::Start(self.end))?;
        self.out.write_all(&directory)?;
        self.out.flush()
    }
}

impl Entry {
    /// Appends the header of the entry to the central directory.
    fn describe(&self, crc: u32, directory: &mut Vec<u8>) {
        let mut extra = Vec::new();
        // only the numbers that do not fit into 32 bits, in this order
        if self.size >= u64::from(IN_ZIP64) {
            put_64(&mut extra, &[self.size, self.size]);
        }
        if self.offset >= u64::from(IN_ZIP64) {
            put_64(&mut extra, &[self.offset]);
        }
        let needs_64 = !extra.is_empty();
        let version = version(needs_64);
        put_32(directory, &[CENTRAL_HEADER]);
        put_16(directory, &[version, version, 0, 0, 0, DOS_DATE]);
        put_32(directory, &[crc, small(self.size), small(self.size)]);
        let n_extra = if needs_64 { extra.len() as u16 + 4 } else { 0 };
        put_16(directory, &[self.name.len() as u16, n_extra, 0, 0, 0]);
        put_32(directory, &[0, small(self.offset)]);
        directory.extend_from_slice(self.name.as_bytes());
        if needs_64 {
            put_16(directory, &[1, extra.len() as u16]);
            directory.extend_from_slice(&extra);
        }
    }
}

fn version(needs_64: bool) -> u16 {
    if needs_64 { VERSION_ZIP64 } else { VERSION_PLAIN }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(IN_ZIP64)
}

fn put_16(bytes: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn put_32(bytes: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn put_64(bytes: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// The checksum of zip: CRC-32 with the reflected polynomial 0xEDB88320.
#[derive(Default)]
struct Crc32(u32);

const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
};

impl Crc32 {
    fn add(&mut self, bytes: &[u8]) {
        let step = |crc: u32, byte: &u8| CRC_TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
        self.0 = !bytes.iter().fold(!self.0, step);
    }

    fn value(&self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let mut crc = Crc32::default();
        crc.add(b"1234");
        crc.add(b"56789");
        assert_eq!(crc.value(), 0xcbf4_3926);
    }

    #[test]
    fn entries_are_filled_in_any_order_and_must_be_full() {
        let mut bytes = Cursor::new(Vec::new());
        let mut zip = Zip::new(&mut bytes);
        let [a, b] = ["a", "b"].map(|name| zip.entry(name.into(), 4).unwrap());
        zip.append(b, b"56").unwrap();
        zip.append(a, b"1234").unwrap();
        assert!(zip.append(a, b"5").is_err());
        zip.append(b, b"78").unwrap();
        zip.finish().unwrap();
        let bytes = bytes.into_inner();
        let at = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
        assert!(at(b"a1234") < at(b"b5678"));
        let mut zip = Zip::new(Cursor::new(Vec::new()));
        zip.entry("a".into(), 1).unwrap();
        assert!(zip.finish().is_err());
    }

    /// Checks the layout of Zip64 fields; a file of 5.8 GB was read by NumPy in a manual test.
    #[test]
    fn what_is_beyond_4_gib_stands_in_zip64_fields() {
        const LARGE: u64 = 5 << 30;
        let mut bytes = Cursor::new(Vec::new());
        let mut zip = Zip::new(&mut bytes);
        zip.entry("a".into(), LARGE).unwrap();
        let mut directory = Vec::new();
        zip.entries[0].describe(7, &mut directory);
        let far = Entry { offset: LARGE, ..zip.entries.remove(0) };
        let mut far_directory = Vec::new();
        far.describe(7, &mut far_directory);
        let local = bytes.into_inner();
        let size = LARGE.to_le_bytes();
        assert_eq!(local[18..26], [0xff; 8]);
        assert_eq!(local[30..], [&b"a\x01\0\x10\0"[..], &size, &size].concat());
        assert_eq!(directory[20..28], [0xff; 8]);
        assert_eq!(directory[42..46], [0; 4], "the offset fits");
        assert_eq!(directory[46..], [&b"a\x01\0\x10\0"[..], &size, &size].concat());
        assert_eq!(far_directory[42..46], [0xff; 4]);
        assert_eq!(far_directory[46..], [&b"a\x01\0\x18\0"[..], &size, &size, &size].concat());
    }
}
