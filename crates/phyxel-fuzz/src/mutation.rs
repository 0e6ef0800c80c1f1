//! Random changes of inputs, the same for the same random numbers.

use phyxel::math::Random;

/// Pieces that formats are made of, and numbers at the limits of their types.
const PIECES: &[&str] = &[
    "",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "\"",
    "=",
    ".",
    ",",
    ":",
    "/",
    "\\",
    "#",
    "\n",
    " ",
    "-1",
    "0",
    "1e400",
    "1e-320",
    "nan",
    "inf",
    "4294967295",
    "9223372036854775807",
    "18446744073709551616",
    "true",
    "null",
    "\u{0}",
    "é",
    "%2e",
    "end_header\n",
    "element vertex 99999999\n",
    "property list uchar int vertex_indices\n",
    "\u{feff}",
];
const WORDS: [[u8; 4]; 6] =
    [[0xff; 4], [0; 4], [0xff, 0xff, 0xff, 0x7f], [0, 0, 0, 0x80], [0, 0, 0xc0, 0x7f], [1, 0, 0, 0]];
/// Longest input (bytes).
const LONGEST: usize = 16_384;

/// Makes new inputs of known ones.
#[derive(Debug)]
pub struct Mutation {
    random: Random,
}

impl Mutation {
    /// Creates a source of changes.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    /// Returns one of the inputs with a few changes.
    pub fn of(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.one_of(inputs);
        for _ in 0..=self.random.index(6) {
            self.change(&mut bytes, inputs);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn one_of(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        if inputs.is_empty() { Vec::new() } else { inputs[self.random.index(inputs.len())].clone() }
    }

    fn range(&mut self, length: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.random.index(length + 1);
        start..(start + self.random.index(longest + 1)).min(length)
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let n = bytes.len();
        match self.random.index(8) {
            0 if n > 0 => bytes[self.random.index(n)] ^= 1 << self.random.index(8),
            1 if n > 0 => bytes[self.random.index(n)] = self.random.bits() as u8,
            2 => drop(bytes.splice(self.range(n, 8), PIECES[self.random.index(PIECES.len())].bytes())),
            3 if n >= 4 => {
                let at = self.random.index(n - 3);
                bytes[at..at + 4].copy_from_slice(&WORDS[self.random.index(WORDS.len())]);
            }
            4 => drop(bytes.drain(self.range(n, 64))),
            5 => {
                let repeated = bytes[self.range(n, 64)].repeat(1 + self.random.index(4));
                let at = self.random.index(n + 1);
                bytes.splice(at..at, repeated);
            }
            6 => {
                let other = self.one_of(inputs);
                let part = other[self.range(other.len(), 256)].to_vec();
                bytes.splice(self.range(n, 64), part);
            }
            _ => bytes.truncate(self.random.index(n + 1)),
        }
    }
}
