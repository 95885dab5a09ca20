//! Compares the CPU time of large and small inputs, so that a test can tell linear from quadratic time
//! on any machine under any load.

use std::time::Duration;

/// Other processes may slow down one attempt, but hardly all.
const MAX_ATTEMPTS: usize = 5;

/// Work is repeated for at least this long, because the kernel counts CPU time in ticks of up to ten
/// milliseconds.
const MIN_MEASURED_TIME: Duration = Duration::from_millis(60);

/// Whether `large` takes at most `factor` times the CPU time of `small`, in the best of a few attempts.
/// Both must work on the calling thread.
pub fn takes_at_most<T>(factor: u32, small: impl Fn() -> T, large: impl Fn() -> T) -> bool {
    let unit = time_of(&small);
    (0..MAX_ATTEMPTS).any(|_| time_of(&large) <= unit * factor)
}

fn time_of<T>(work: impl Fn() -> T) -> Duration {
    let (start, mut runs) = (cpu_time(), 0);
    loop {
        std::hint::black_box(work());
        runs += 1;
        let spent = cpu_time().saturating_sub(start);
        if spent >= MIN_MEASURED_TIME {
            return spent / runs;
        }
    }
}

/// The CPU time of this thread: the first number in the kernel's statistics, in nanoseconds.
#[expect(clippy::panic, reason = "tests may fail")]
fn cpu_time() -> Duration {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match text.split_whitespace().next().and_then(|number| number.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => panic!("{path} does not contain the CPU time of this thread"),
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
