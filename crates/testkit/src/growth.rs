//! Compares the CPU time of a large piece of work with that of a small one measured beside it, so
//! that a test can tell linear from quadratic on any machine under any load.

use std::time::Duration;

/// Caches that others have emptied slow one attempt, hardly all of them.
const ATTEMPTS: usize = 5;

/// The kernel counts CPU time at its ticks, of up to ten milliseconds: work is repeated until it
/// took several of them.
const MEASURED: Duration = Duration::from_millis(60);

/// Whether `large` takes at most `factor` times the CPU time of `small`, each at the best of a few
/// attempts. Both must do their work on the thread that calls them.
pub fn takes_at_most<T>(factor: u32, small: impl Fn() -> T, large: impl Fn() -> T) -> bool {
    let unit = time_of(&small);
    (0..ATTEMPTS).any(|_| time_of(&large) <= unit * factor)
}

fn time_of<T>(work: impl Fn() -> T) -> Duration {
    let (start, mut runs) = (cpu_time(), 0);
    loop {
        std::hint::black_box(work());
        runs += 1;
        let spent = cpu_time().saturating_sub(start);
        if spent >= MEASURED {
            return spent / runs;
        }
    }
}

/// The time that this thread has spent on a core; the first figure of the kernel's statistics, in
/// nanoseconds.
#[expect(clippy::panic, reason = "tests may fail")]
fn cpu_time() -> Duration {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match text.split_whitespace().next().and_then(|figure| figure.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => panic!("{path} does not tell the CPU time of this thread"),
    }
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
