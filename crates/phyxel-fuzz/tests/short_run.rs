//! A short run of all targets, with the same inputs every time.

use phyxel_fuzz::{Mutation, TARGETS, Target};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Longest time for one input; the readers need milliseconds, but the machine may be busy.
const LONGEST: Duration = Duration::from_secs(2);
/// Number of inputs of each target.
const N_INPUTS: usize = 10_000;

/// Reads an input; a panic or a long time is told together with the input, which is kept as a file.
fn read(target: &Target, bytes: &[u8]) -> bool {
    let begin = Instant::now();
    let read = target.read;
    let answer = catch_unwind(|| read(bytes));
    if answer.is_err() || begin.elapsed() > LONGEST {
        let path = std::env::temp_dir().join(format!("phyxel_fuzz_{}", target.name));
        std::fs::write(&path, bytes).unwrap();
        panic!("{}: {answer:?} after {:?} for {}", target.name, begin.elapsed(), path.display());
    }
    answer.unwrap()
}

#[test]
fn readers_accept_their_seeds() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        for (k, seed) in seeds.iter().enumerate() {
            assert!((target.read)(seed), "{} refuses seed {k}", target.name);
        }
    }
}

#[test]
fn readers_survive_changed_seeds() {
    for target in TARGETS {
        let mut inputs = (target.seeds)();
        let n_seeds = inputs.len();
        let mut mutation = Mutation::new(1);
        for _ in 0..N_INPUTS {
            let changed = mutation.of(&inputs);
            let is_accepted = read(target, &changed);
            // what is still accepted is changed further
            if is_accepted && inputs.len() < n_seeds + 200 {
                inputs.push(changed);
            }
        }
    }
}
