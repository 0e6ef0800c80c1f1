//! Reductions whose result does not depend on the number of threads: chunks of a fixed size, added in order.

use super::Real;
use rayon::prelude::*;

/// Number of rows per partial sum. It is fixed because it determines the bits of results.
pub const CHUNK: usize = 1024;
/// Largest number of chunks that one thread sums, which is faster than waking another thread.
const AT_ONCE: usize = 8;

/// Returns Σ term(i) for i < n, with the same bits for any number of threads.
pub fn sum_over<T, F>(n: usize, term: F) -> T
where
    T: Default + std::ops::Add<Output = T> + Send,
    F: Fn(usize) -> T + Sync,
{
    let chunk_sum = |c: usize| {
        let end = ((c + 1) * CHUNK).min(n);
        (c * CHUNK..end).fold(T::default(), |sum, i| sum + term(i))
    };
    let n_chunks = n.div_ceil(CHUNK);
    if n_chunks <= AT_ONCE {
        return (0..n_chunks).map(chunk_sum).fold(T::default(), |sum, part| sum + part);
    }
    let partial: Vec<T> = (0..n_chunks).into_par_iter().map(chunk_sum).collect();
    partial.into_iter().fold(T::default(), |sum, part| sum + part)
}

/// Returns the largest value(i) and its index, the smallest of equal ones; NaN counts as infinite. `None` for n = 0.
pub fn max_over<F>(n: usize, value: F) -> Option<(Real, usize)>
where
    F: Fn(usize) -> Real + Sync,
{
    let better =
        |a: (Real, usize), b: (Real, usize)| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a };
    (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|c| {
            (c * CHUNK..((c + 1) * CHUNK).min(n)).fold((Real::NEG_INFINITY, usize::MAX), |best, i| {
                let v = value(i);
                better(best, (if v.is_nan() { Real::INFINITY } else { v }, i))
            })
        })
        .reduce_with(better)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(f)
    }

    #[test]
    fn sum_has_the_same_bits_for_any_number_of_threads() {
        let term = |i: usize| ((i * 7919) % 104_729) as Real * 1e-3 + 1.0 / (i + 1) as Real;
        let one = with_threads(1, || sum_over(104_000, term));
        for n in [2, 3, 8] {
            assert_eq!(one.to_bits(), with_threads(n, || sum_over(104_000, term)).to_bits());
        }
        let exact: Real = (0..104_000).map(term).sum();
        assert!((one - exact).abs() < 1e-9 * exact);
    }

    #[test]
    fn max_finds_value_and_first_index() {
        assert_eq!(max_over(0, |_| 0.0), None);
        assert_eq!(max_over(10_000, |i| ((i * 31) % 5000) as Real), Some((4999.0, 1129)));
        assert_eq!(max_over(3, |i| if i == 1 { Real::NAN } else { 0.0 }), Some((Real::INFINITY, 1)));
    }
}
