//! The seed of random tests: fixed, unless `ONEIRO_TEST_SEED` sets another. A failing test prints it with
//! a command that replays the test.

use proptest::test_runner::{Config, RngSeed};
use std::cell::Cell;
use std::sync::Once;

/// Sets the seed, an unsigned number. `scripts/torture` sets a new one each round.
pub const SEED_VARIABLE: &str = "ONEIRO_TEST_SEED";

/// Multiplies the number of cases of every random test.
pub const CASES_VARIABLE: &str = "ONEIRO_TEST_CASES";

/// Arbitrary, but fixed.
const DEFAULT_SEED: u64 = 20_260_713;

thread_local! {
    /// Whether the test on this thread is random, so that its failure prints the seed.
    static IS_RANDOM: Cell<bool> = const { Cell::new(false) };
}

/// The seed for a random test on this thread. If the test fails, prints the seed and a command to
/// replay it.
pub fn test_seed() -> u64 {
    static HOOK: Once = Once::new();
    HOOK.call_once(print_seed_on_panic);
    IS_RANDOM.set(true);
    number_from(SEED_VARIABLE).unwrap_or(DEFAULT_SEED)
}

/// A configuration for `proptest!` with the seed of [`test_seed`] and `cases` times `ONEIRO_TEST_CASES`
/// cases.
pub fn proptest_config(cases: u32) -> Config {
    let factor = number_from(CASES_VARIABLE).and_then(|factor| u32::try_from(factor).ok());
    Config {
        cases: cases.saturating_mul(factor.unwrap_or(1).max(1)),
        rng_seed: RngSeed::Fixed(test_seed()),
        ..Config::default()
    }
}

/// A number from the environment, if the variable is set.
#[expect(clippy::panic, clippy::disallowed_methods, reason = "tests may read and fail")]
fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        // Ignoring an invalid seed would replay another test.
        Err(_) => panic!("{variable} is not an unsigned number: {text:?}"),
    }
}

/// Prints the seed after the first panic of a random test. Later panics are from proptest's shrinking.
fn print_seed_on_panic() {
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print_panic(panic);
        if IS_RANDOM.replace(false) {
            print_line(&replay_command());
        }
    }));
}

#[expect(clippy::print_stderr, reason = "what a test prints is shown when it fails")]
fn print_line(line: &str) {
    eprintln!("{line}");
}

/// The command that runs the test of this thread again. Cargo sets the name of the package, and libtest
/// names the thread after the test.
#[expect(clippy::disallowed_methods, reason = "tests may read the environment")]
fn replay_command() -> String {
    let seed = number_from(SEED_VARIABLE).unwrap_or(DEFAULT_SEED);
    let cases = number_from(CASES_VARIABLE).map(|cases| format!(" {CASES_VARIABLE}={cases}"));
    let package = std::env::var("CARGO_PKG_NAME").map(|name| format!(" -p {name}"));
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").unwrap_or_default();
    format!(
        "This test is random. Replay it with:\n  {SEED_VARIABLE}={seed}{} scripts/test \
         --with-server cargo test{} {test}",
        cases.unwrap_or_default(),
        package.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    fn first_values() -> Vec<u64> {
        let mut runner = TestRunner::new(proptest_config(8));
        let value = |_| any::<u64>().new_tree(&mut runner).unwrap().current();
        (0..8).map(value).collect()
    }

    #[test]
    fn every_run_draws_the_same_values() {
        assert_eq!(first_values(), first_values());
    }

    /// Runs this test again in a child process that fails, and reads its output.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "tells the child from the parent")]
    fn a_failure_prints_the_seed_and_how_to_replay_it() {
        const CHILD_VARIABLE: &str = "ONEIRO_TESTKIT_FAIL";
        if std::env::var(CHILD_VARIABLE).is_ok() {
            assert_eq!(test_seed(), 0);
        }
        let test = "random::tests::a_failure_prints_the_seed_and_how_to_replay_it";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact"])
            .env(CHILD_VARIABLE, "1")
            .env(SEED_VARIABLE, "4711")
            .env(CASES_VARIABLE, "3")
            .env("CARGO_PKG_NAME", "oneiro-testkit")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&child.stdout);
        let command = format!(
            "ONEIRO_TEST_SEED=4711 ONEIRO_TEST_CASES=3 scripts/test --with-server cargo test -p \
             oneiro-testkit {test}\n"
        );
        assert!(!child.status.success());
        assert_eq!(printed.matches(&command).count(), 1, "{printed}");
    }
}
