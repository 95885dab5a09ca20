//! Who holds a lease: a name from which another process on the same machine can tell that the holder
//! is gone, so that nobody waits for a lease to run out which nobody will give back.
//!
//! A name is `machine.pid.start.random`. The machine is one boot of one kernel with one numbering of
//! processes, so containers and other computers are never judged; the start tells a process from a
//! later one with its number. Where the system does not say all of that, nobody counts as gone.

use rustix::process::{Pid, test_kill_process};

/// A new name of somebody in this process.
pub(crate) fn new_holder(random: &str) -> String {
    let pid = std::process::id();
    let machine = machine().unwrap_or_default();
    let start = read_stat(pid).map(|stat| stat.start.to_string()).unwrap_or_default();
    format!("{machine}.{pid}.{start}.{random}")
}

/// Whether the process of a holder has certainly ended.
pub(crate) fn is_gone(holder: &str) -> bool {
    let mut parts = holder.splitn(4, '.');
    let (Some(on), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let pid = pid.parse::<i32>().ok().filter(|pid| *pid > 0);
    let (Some(pid), Ok(start)) = (pid, start.parse::<u64>()) else { return false };
    let (Some(process), true) = (Pid::from_raw(pid), machine().is_some_and(|here| here == on))
    else {
        return false;
    };
    if test_kill_process(process) == Err(rustix::io::Errno::SRCH) {
        return true;
    }
    // It may be another process by now, or one that was killed and that its parent has not noted.
    read_stat(pid.unsigned_abs()).is_some_and(|stat| stat.start != start || stat.is_dead)
}

/// This boot of this kernel, and the namespaces in which processes and times are counted.
fn machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = |name: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
        let text = link.to_str()?;
        Some(text.chars().filter(char::is_ascii_digit).collect::<String>())
    };
    // A kernel without namespaces of time has one time.
    let time = namespace("time").unwrap_or_default();
    Some(format!("{}-{}-{time}", boot.trim(), namespace("pid")?))
}

struct Stat {
    /// When the process began, in ticks since the boot.
    start: u64,
    is_dead: bool,
}

fn read_stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some(Stat { start, is_dead: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The name that somebody in another process has.
    fn holder_in(pid: u32) -> String {
        let start = read_stat(pid).unwrap().start;
        format!("{}.{pid}.{start}.x", machine().unwrap())
    }

    #[test]
    fn who_lives_is_not_gone() {
        assert!(!is_gone(&new_holder("x")));
        assert!(!is_gone(&holder_in(1)), "a process of somebody else");
    }

    #[test]
    fn who_was_killed_is_gone_before_and_after_its_parent_notes_it() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let holder = holder_in(child.id());
        assert!(!is_gone(&holder));
        child.kill().unwrap();
        while !is_gone(&holder) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(is_gone(&holder));
    }

    #[test]
    fn a_later_process_with_the_same_number_is_another() {
        let holder = new_holder("x");
        let start = read_stat(std::process::id()).unwrap().start;
        assert!(is_gone(&holder.replace(&format!(".{start}."), &format!(".{}.", start - 1))));
    }

    #[test]
    fn nothing_is_said_of_other_machines_and_other_names() {
        let machine = machine().unwrap();
        for holder in [
            "",
            "two",
            "999999999.random",
            "elsewhere.999999999.1.x",
            ".999999999.1.x",
            &format!("{machine}.999999999..x"),
            &format!("{machine}.-5.1.x"),
            &format!("{machine}.0.1.x"),
        ] {
            assert!(!is_gone(holder), "{holder}");
        }
        assert!(is_gone(&format!("{machine}.999999999.1.x")));
    }
}
