//! Compares the time of a large piece of work with that of a small one measured beside it, so that
//! a test can tell linear from quadratic on any machine under any load.

use std::time::{Duration, Instant};

/// A pause of the machine can fall into one attempt, hardly into all of them.
const ATTEMPTS: usize = 5;

/// Less than this cannot be told from the noise of the clock and the scheduler.
const SHORTEST: Duration = Duration::from_micros(200);

/// Whether `large` takes at most `factor` times as long as `small`, at the best of a few attempts.
pub fn takes_at_most<T>(factor: u32, small: impl Fn() -> T, large: impl Fn() -> T) -> bool {
    (0..ATTEMPTS).any(|_| {
        let unit = time_of(&small).max(SHORTEST);
        time_of(&large) <= unit * factor
    })
}

fn time_of<T>(work: impl Fn() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_pairs(items: u64) {
        for left in 0..items {
            for right in 0..items {
                std::hint::black_box(left ^ right);
            }
        }
    }

    #[test]
    fn linear_work_passes_and_quadratic_work_does_not() {
        let linear = |items: u64| (0..items * 500).map(std::hint::black_box).sum::<u64>();
        assert!(takes_at_most(64, || linear(1_000), || linear(16_000)));
        assert!(!takes_at_most(64, || count_pairs(300), || count_pairs(300 * 16)));
    }
}
