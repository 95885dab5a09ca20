//! The figures of `bench context` as people read them.

use super::{Compaction, Contexts, Long, Times};
use crate::load::Rate;

/// The metrics as people read them.
pub fn describe(contexts: &Contexts) -> String {
    let [before, after] = contexts.load_average;
    let mut lines = vec![
        format!("{}, load {before:.1} to {after:.1}", contexts.machine),
        String::new(),
        "small sessions, as seahorse measures them".to_owned(),
    ];
    lines.extend(contexts.workloads.iter().map(|(name, times)| time(name, times)));
    for (messages, long) in &contexts.sessions {
        lines.push(String::new());
        lines.extend(session(*messages, long));
    }
    lines.push(format!("{:<30} {:.1} MB", "resident", contexts.rss_mb));
    lines.join("\n")
}

fn session(messages: usize, long: &Long) -> Vec<String> {
    let mut lines = vec![
        format!("{messages} messages, {} MB of text, {} tokens", long.text_mb, long.tokens),
        rate("ingest, indexed", &long.ingest),
        format!("{:<30} {:>9.3} ms", "first window", long.first_window_ms),
    ];
    let windows =
        |when: &str, name: &str, times: &Times| time(&format!("window {name}, {when}"), times);
    lines.extend(long.before.iter().map(|(name, times)| windows("not compacted", name, times)));
    lines.extend(long.after.iter().map(|(name, times)| windows("compacted", name, times)));
    lines.push(time("append, then window 32k", &long.append_then_window));
    lines.push(compaction("compact, all that is worth it", &long.compact));
    lines.push(compaction("compact, until 64,000 tokens", &long.compact_until_64k));
    lines.push(rate("expand through the roots", &long.expand));
    lines.push(time("grep, two words", &long.grep_words));
    lines.push(time("grep, a pattern", &long.grep_pattern));
    lines
}

fn compaction(name: &str, one: &Compaction) -> String {
    format!(
        "{name:<30} {:>9.2} MB/s   {:.2} s, {:.2} on a processor, {} summaries, depth {}, {} tokens left",
        one.mb_per_s, one.seconds, one.cpu_s, one.summaries, one.depth, one.tokens
    )
}

fn time(name: &str, times: &Times) -> String {
    let raw = times.raw_p50_ms.zip(times.ratio);
    let raw = raw.map(|(raw, ratio)| format!("   raw {raw:>9.3} ms   {ratio:.2}x as long"));
    let (p50, p95) = (times.p50_ms, times.p95_ms);
    format!("{name:<30} p50 {p50:>9.3} ms   p95 {p95:>9.3} ms{}", raw.unwrap_or_default())
}

fn rate(name: &str, rate: &Rate) -> String {
    let (ours, raw) = (rate.per_s, rate.raw_per_s);
    format!("{name:<30} {ours:>9.0}/s   raw {raw:>9.0}/s   {:.2}x", rate.ratio)
}
