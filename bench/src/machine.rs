//! Describes the machine of a benchmark.

/// The processor, its cores and the operating system in one line.
pub(crate) fn describe() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores, {}", model.unwrap_or("unknown processor"), std::env::consts::OS)
}

/// Resident memory of this process in megabytes.
pub(crate) fn resident_mb() -> f64 {
    resident_mb_of("self")
}

/// Resident memory of a process in megabytes.
pub(crate) fn resident_mb_of(process: &str) -> f64 {
    status_mb(process, "VmRSS:")
}

/// The most resident memory that this process ever had, in megabytes.
pub(crate) fn peak_mb() -> f64 {
    status_mb("self", "VmHWM:")
}

fn status_mb(process: &str, field: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes: f64 =
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0);
    (kilobytes / 1024.0 * 10.0).round() / 10.0
}

/// The load average of the last minute.
pub(crate) fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// The CPU seconds of this thread, which do not depend on other processes.
pub(crate) fn thread_cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}
