//! Processes that end at any moment: killed, with system calls that fail or with a clock that
//! jumps; and the stats of what was done to them.

use fastrand::Rng;
use oneiro_testkit::{Backend, Faults, JumpingClock, TestSpace};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Errors that say to try again, which a storm is a reason for.
const RETRYABLE: [&str; 4] = ["busy", "conflict", "unavailable", "timeout"];

/// A system call, the ending of the file it is for, and how it fails.
const FAULTS: [(&str, &str, &str); 9] = [
    ("pwrite", "-wal", "ENOSPC"),
    ("pwrite", "-wal", "EIO"),
    ("pwrite", ".db", "EIO"),
    ("sync", ".db", "EIO"),
    ("sync", "-wal", "EIO"),
    ("sync", "", "ENOSPC"),
    ("rename", "", "EIO"),
    ("link", "", "EPERM"),
    ("spawn", "", "EAGAIN"),
];

/// What happened in a storm. `scripts/torture` adds up the printed lines.
#[derive(Debug, Default)]
pub struct StormStats {
    pub rounds: AtomicUsize,
    pub kills: AtomicUsize,
    pub faults: AtomicUsize,
    pub clock_jumps: AtomicUsize,
    pub backups: AtomicUsize,
    pub erasures: AtomicUsize,
    pub acknowledged: AtomicUsize,
}

impl StormStats {
    /// One line, printed only after every check has passed: nothing was lost.
    pub fn print(&self, backend: Backend) {
        let StormStats { rounds, kills, faults, clock_jumps, backups, erasures, acknowledged } =
            self;
        let counts = [
            ("rounds", rounds),
            ("kills", kills),
            ("faults", faults),
            ("clock_jumps", clock_jumps),
            ("backups", backups),
            ("erasures", erasures),
            ("acknowledged", acknowledged),
        ];
        let counts =
            counts.map(|(name, count)| format!("{name}={}", count.load(Ordering::Relaxed)));
        println!("stats: {backend:?} {} lost=0", counts.join(" "));
    }
}

/// Adds one to a figure.
pub fn count(figure: &AtomicUsize) {
    figure.fetch_add(1, Ordering::Relaxed);
}

/// What is done to processes, and how often it was.
pub struct Trouble {
    pub stats: StormStats,
    faults: Faults,
    clock: JumpingClock,
    backend: Backend,
}

/// A process that takes longer hangs: on a loaded machine a command takes a second.
const HANGS: Duration = Duration::from_secs(120);

/// What a process printed, once it has ended. What it prints must fit into a pipe.
fn output_of(mut child: Child) -> Output {
    let deadline = Instant::now() + HANGS;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            let command = std::fs::read_to_string(format!("/proc/{}/cmdline", child.id()));
            let rules = std::fs::read_to_string(format!("/proc/{}/environ", child.id()));
            child.kill().unwrap();
            panic!("a process hangs: {command:?} {rules:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// A process, and whether any of its calls may fail.
pub struct Troubled {
    pub child: Child,
    pub has_faults: bool,
}

impl Trouble {
    pub fn new(space: &TestSpace) -> Trouble {
        let faults = Faults::new();
        faults.arm();
        let backend = space.backend;
        Trouble { stats: StormStats::default(), faults, clock: JumpingClock::new(), backend }
    }

    /// Starts a command, which may get a call that fails or a clock that jumps.
    pub fn start(&self, mut command: Command, rng: &mut Rng) -> Troubled {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A store on a server has no files that a call of ours could fail for.
        let has_faults = self.backend == Backend::Sqlite && rng.bool();
        if has_faults {
            let (call, suffix, error) = FAULTS[rng.usize(..FAULTS.len())];
            let rule = format!("{call}:{suffix}:{}:{}:{error}", rng.u8(..4), rng.u8(1..4));
            self.faults.apply(&mut command, &rule).env_remove("FAULT_DISK");
        } else if rng.u8(..4) == 0 {
            let years = rng.i64(-20..20);
            self.clock.apply(&mut command, years * 365 * 86_400, rng.u32(1..20));
            count(&self.stats.clock_jumps);
        }
        Troubled { child: command.spawn().unwrap(), has_faults }
    }

    /// Runs a command that may be killed on the way. Nothing where it was, or where it answered
    /// that it should be tried again; what it printed where it succeeded.
    pub fn run(&self, command: Command, rng: &mut Rng) -> Option<Output> {
        let Troubled { mut child, has_faults } = self.start(command, rng);
        let kill = rng.bool();
        if kill {
            // Nothing depends on how long this is: it only spreads the kills.
            std::thread::sleep(Duration::from_millis(rng.u64(..200)));
            child.kill().unwrap();
        }
        let output = output_of(child);
        self.judge(&output, has_faults).then_some(output)
    }

    /// Whether a process succeeded. One that was killed, had a call that failed or met another did
    /// not; any other failure fails the test.
    pub fn judge(&self, output: &Output, has_faults: bool) -> bool {
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_retryable =
            RETRYABLE.iter().any(|kind| errors.contains(&format!("\"kind\":\"{kind}\"")));
        match (output.status.signal(), output.status.code()) {
            (Some(_), _) if !has_faults || output.status.signal() == Some(9) => {
                assert_eq!(output.status.signal(), Some(9), "{errors}");
                count(&self.stats.kills);
                false
            }
            (None, Some(0)) => true,
            _ if has_faults => {
                count(&self.stats.faults);
                false
            }
            _ if is_retryable => false,
            _ => panic!("{:?}: {errors}", output.status),
        }
    }
}
