//! Names the holder of a lease, so that another process on the same machine can tell whether the
//! holder has exited and take over without waiting for the lease to expire.
//!
//! A name is `machine.pid.start.random`. `machine` identifies one boot of one kernel and PID
//! namespace, so holders in containers and on other computers are never judged; `start`
//! distinguishes a process from a later one with the same PID. If the system does not report all of
//! this, no holder counts as exited.

use rustix::process::{Pid, test_kill_process};

/// A new holder name for this process.
pub(crate) fn new_lease_holder(random: &str) -> String {
    let pid = std::process::id();
    let machine = machine().unwrap_or_default();
    let start = read_stat(pid).map(|stat| stat.start.to_string()).unwrap_or_default();
    format!("{machine}.{pid}.{start}.{random}")
}

/// Whether the process of a holder has certainly exited.
pub(crate) fn has_exited(holder: &str) -> bool {
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
    // The PID may be reused, or the process may be a zombie.
    read_stat(pid.unsigned_abs()).is_some_and(|stat| stat.start != start || stat.is_dead)
}

/// The boot id and the namespaces of PIDs and time.
fn machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = |name: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
        let text = link.to_str()?;
        Some(text.chars().filter(char::is_ascii_digit).collect::<String>())
    };
    // A kernel without time namespaces has one time.
    let time = namespace("time").unwrap_or_default();
    Some(format!("{}-{}-{time}", boot.trim(), namespace("pid")?))
}

struct Stat {
    /// Start time in clock ticks since boot.
    start: u64,
    is_dead: bool,
}

fn read_stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in parentheses and may contain anything.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some(Stat { start, is_dead: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The holder name of another process.
    fn holder_in(pid: u32) -> String {
        let start = read_stat(pid).unwrap().start;
        format!("{}.{pid}.{start}.x", machine().unwrap())
    }

    #[test]
    fn who_lives_is_not_gone() {
        assert!(!has_exited(&new_lease_holder("x")));
        assert!(!has_exited(&holder_in(1)), "a process of somebody else");
    }

    #[test]
    fn who_was_killed_is_gone_before_and_after_its_parent_notes_it() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let holder = holder_in(child.id());
        assert!(!has_exited(&holder));
        child.kill().unwrap();
        while !has_exited(&holder) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(has_exited(&holder));
    }

    #[test]
    fn a_later_process_with_the_same_number_is_another() {
        let holder = new_lease_holder("x");
        let start = read_stat(std::process::id()).unwrap().start;
        assert!(has_exited(&holder.replace(&format!(".{start}."), &format!(".{}.", start - 1))));
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
            assert!(!has_exited(holder), "{holder}");
        }
        assert!(has_exited(&format!("{machine}.999999999.1.x")));
    }
}
