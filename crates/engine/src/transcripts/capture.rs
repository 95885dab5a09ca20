//! Captures a transcript: reads what is new in the file and stores it in batches, each with the
//! position that was reached. A line that is read twice is stored once.

use super::charged_usage::ChargedUsage;
use super::harness;
use super::lines::{Damage, Line, Lines, cannot_read, number};
use super::reader::{Facts, ParsedLine, Reader};
use super::write::{Batch, BatchOutcome, Group};
use super::{CaptureRequest, Captured, ReadFrom};
use crate::Oneiro;
use crate::sessions::Draft;
use crate::views::Transfer;
use oneiro_model::{CapturePause, Error, NewMessage, NewSession, Result, SessionId, Timestamp};
use oneiro_store::transcripts::Reached;
use oneiro_store::{message_rows, messages, transcripts};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How much is read at once.
#[derive(Clone, Copy)]
struct ReadLimits {
    /// Messages of a batch, or lines at the beginning of a file.
    count: usize,
    /// Bytes of their lines.
    bytes: u64,
}

/// How much a batch holds.
const BATCH: ReadLimits = ReadLimits { count: 1_024, bytes: 8 << 20 };

/// How much a batch holds for a caller with a time limit.
const SHORT_BATCH: ReadLimits = ReadLimits { count: 128, bytes: 512 << 10 };

/// How much of the beginning of a file is read again before going on in the middle of it.
const HEAD: ReadLimits = ReadLimits { count: 64, bytes: 256 << 10 };

/// How much before a place is searched first for the folder and the time that hold there.
const FIRST_BYTES_BEFORE: u64 = 64 << 10;

impl Transfer<'_> {
    /// Stores what is new in a transcript. It may be growing, and any number of processes may
    /// capture the same one: each line is stored once. `progress` hears how far the file is read.
    pub fn capture_transcript(
        &self,
        request: &CaptureRequest<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Captured> {
        let path = resolve_path(request)?;
        let name = path.to_string_lossy().into_owned();
        let started = Instant::now();
        let mut done = Captured { finished: true, ..Captured::default() };
        let mut damage = Vec::new();
        loop {
            let agent = request.agent.as_str();
            let base = self.oneiro.store.read(|tx| transcripts::reached(tx, agent, &name))?;
            let mut pass = Pass::begin(self.oneiro, request, &path, base)?;
            let mut unknown = Vec::new();
            let is_over = loop {
                let Some(read) = pass.read_batch()? else {
                    if !pass.reader.is_known && pass.is_foreign()? {
                        done.not_transcripts.push(name.clone());
                    }
                    break true;
                };
                // Unknown lines hold no messages. They wait for a known one: a position is not
                // remembered in a file that is no transcript.
                if !pass.reader.is_known {
                    unknown.push((read.counts, read.damage));
                    continue;
                }
                let stored = match pass.store(read.groups)? {
                    BatchOutcome::Stored(stored) => stored,
                    BatchOutcome::ReadElsewhere => break false,
                    BatchOutcome::PausesChanged => {
                        done.finished = false;
                        break true;
                    }
                };
                done.add(Captured { finished: true, ..stored });
                unknown.push((read.counts, read.damage));
                for (counts, lines) in unknown.drain(..) {
                    done.add(counts);
                    damage.extend(lines);
                }
                progress(pass.position);
                if request.limit.is_some_and(|limit| started.elapsed() >= limit) {
                    done.finished = read.is_last;
                    break true;
                }
            };
            if is_over {
                break;
            }
        }
        done.damaged = number(&path, damage)?;
        if request.limit.is_none() && done.messages > 0 && !request.dry_run {
            self.oneiro.index.schedule_indexing(self.oneiro.store.read(message_rows::last_id)?);
        }
        Ok(done)
    }
}

/// When a line was written, if it says.
fn line_time(line: &Value) -> Option<Timestamp> {
    line.get("timestamp").and_then(Value::as_str).and_then(|at| Timestamp::parse(at).ok())
}

/// The file itself, whatever name it was given by.
fn resolve_path(request: &CaptureRequest<'_>) -> Result<PathBuf> {
    let resolve =
        |path: &Path| std::fs::canonicalize(path).map_err(|error| cannot_read(path, error));
    let path = resolve(request.path)?;
    match request.within {
        Some(folder) if !path.starts_with(resolve(folder)?) => Err(Error::invalid(format!(
            "{} leads out of {}",
            request.path.display(),
            folder.display()
        ))
        .remedy("name the file itself if it is to be read")),
        _ => Ok(path),
    }
}

/// A batch that was read.
struct ReadBatch {
    groups: Vec<Group>,
    counts: Captured,
    damage: Vec<Damage>,
    /// Whether the end of the file was reached.
    is_last: bool,
}

/// One pass over a file, from the position that was reached before.
struct Pass<'a> {
    oneiro: &'a Oneiro,
    request: &'a CaptureRequest<'a>,
    path: &'a Path,
    stem: String,
    lines: Lines,
    reader: Reader,
    facts: HashMap<String, Facts>,
    charged: ChargedUsage,
    base: Option<Reached>,
    /// How far the file is read.
    position: u64,
    /// How far the file was read before, while lines before that place are read again.
    furthest: Option<Reached>,
    /// Whether the file was read before and is read from its start again.
    is_reread: bool,
    /// The time that the last line with one gives.
    last_time: Option<Timestamp>,
    /// Whether the folder that the last line with one names is excluded.
    is_excluded: bool,
    /// Sessions a dry run has counted.
    counted: HashSet<SessionId>,
}

impl<'a> Pass<'a> {
    fn begin(
        oneiro: &'a Oneiro,
        request: &'a CaptureRequest<'a>,
        path: &'a Path,
        base: Option<Reached>,
    ) -> Result<Pass<'a>> {
        let mut lines = Lines::open(path)?;
        let resumed = lines.resume(base.as_ref())?;
        let (start, furthest) = match request.from {
            ReadFrom::Reached => (resumed, None),
            ReadFrom::Start => {
                lines.seek(0)?;
                (0, base.clone().filter(|_| resumed > 0))
            }
        };
        let was_read = base.as_ref().is_some_and(|base| base.position > 0);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut pass = Pass {
            oneiro,
            request,
            path,
            reader: Reader::new(request.agent, &stem),
            stem,
            lines,
            facts: HashMap::new(),
            charged: ChargedUsage::default(),
            base,
            position: start,
            furthest,
            is_reread: was_read && start == 0,
            last_time: None,
            is_excluded: false,
            counted: HashSet::new(),
        };
        if start > 0 {
            pass.read_head(start)?;
            if pass.times_left_out().next().is_some() || !request.excluded.is_empty() {
                pass.read_before(start)?;
            }
            // A position was remembered, so some line before it was known.
            pass.reader.is_known = true;
        }
        Ok(pass)
    }

    /// The times of which lines are left out.
    fn times_left_out(&self) -> impl Iterator<Item = &'a CapturePause> {
        self.request.pauses.unwrap_or_default().iter().chain(self.request.gaps)
    }

    /// Lets the reader see the beginning of the file, which names the session and its folder.
    fn read_head(&mut self, until: u64) -> Result<()> {
        self.lines.seek(0)?;
        for _ in 0..HEAD.count {
            let Some(line) = self.lines.next()? else { break };
            if line.end > until || line.end > HEAD.bytes {
                break;
            }
            let value =
                line.bytes.as_deref().and_then(|bytes| oneiro_model::json::parse(bytes).ok());
            if let Some(value) = value {
                let parsed = self.reader.read(value.value, line.at);
                self.add_facts(&parsed.session, parsed.facts);
            }
        }
        self.lines.seek(until)
    }

    /// Finds the folder and the time that hold at a place: those of the last line before it that has
    /// them. Codex names the folder of many lines once.
    fn read_before(&mut self, until: u64) -> Result<()> {
        let mut bytes = FIRST_BYTES_BEFORE;
        loop {
            let start = until.saturating_sub(bytes);
            self.lines.seek(start)?;
            let mut reader = Reader::new(self.request.agent, &self.stem);
            let (mut folder, mut time) = (None, None);
            // The first line is one of which the beginning is missing, unless it is that of the file.
            while let Some(line) = self.lines.next()?.filter(|line| line.end <= until) {
                let value =
                    line.bytes.as_deref().and_then(|bytes| oneiro_model::json::parse(bytes).ok());
                let Some(value) = value else { continue };
                time = line_time(&value.value).or(time);
                folder = reader.read(value.value, line.at).facts.cwd.or(folder);
            }
            if folder.is_some() && time.is_some() || start == 0 {
                self.last_time = time;
                self.is_excluded =
                    folder.is_some_and(|folder| self.request.excluded.contain(&folder));
                return self.lines.seek(until);
            }
            bytes *= 4;
        }
    }

    /// Whether a file without a known line is something else, rather than one whose first line is
    /// still being written.
    fn is_foreign(&mut self) -> Result<bool> {
        self.lines.seek(0)?;
        let first = self.lines.first_byte()?;
        Ok(first.is_some_and(|first| self.position > 0 || first != b'{'))
    }

    fn add_facts(&mut self, session: &str, facts: Facts) {
        if !session.is_empty() {
            self.facts.entry(session.to_owned()).or_default().fill(facts);
        }
    }

    /// Reads the next batch; `None` when there is nothing new.
    fn read_batch(&mut self) -> Result<Option<ReadBatch>> {
        let most = if self.request.limit.is_some() { SHORT_BATCH } else { BATCH };
        let from = self.position;
        let mut read = ReadBatch {
            groups: Vec::new(),
            counts: Captured { finished: true, ..Captured::default() },
            damage: Vec::new(),
            is_last: false,
        };
        let mut messages = 0;
        while messages < most.count && self.position - from < most.bytes {
            let Some(line) = self.lines.next()? else {
                read.is_last = true;
                break;
            };
            self.position = line.end;
            let at = line.at;
            match self.read_line(line, &mut read) {
                Ok(taken) => messages += taken,
                Err(error) => read.damage.push(Damage { at, problem: error.message().to_owned() }),
            }
        }
        read.counts.bytes = self.position - from;
        if self.position == from {
            return Ok(None);
        }
        for group in &mut read.groups {
            group.facts = self.facts.get(group.id.as_str()).cloned().unwrap_or_default();
            group.draft = Draft::new(self.oneiro, group.facts.session(&group.id))?;
        }
        Ok(Some(read))
    }

    /// Takes one line; answers how many messages it holds.
    fn read_line(&mut self, line: Line, read: &mut ReadBatch) -> Result<usize> {
        let Some(bytes) = line.bytes else {
            return Err(Error::too_large("the line is longer than 256 MiB"));
        };
        if bytes.trim_ascii().is_empty() {
            return Ok(0);
        }
        let words = String::from_utf8_lossy(&bytes);
        read.counts.repaired += usize::from(matches!(words, std::borrow::Cow::Owned(_)));
        let value = oneiro_model::json::parse_text(&words)?;
        self.last_time = line_time(&value.value).or(self.last_time);
        let parsed = self.reader.read(value.value, line.at);
        // A line without a time, such as a title, belongs to the one before it.
        let is_in = |pause: &CapturePause| self.last_time.is_some_and(|at| pause.contains(at));
        if let Some(folder) = &parsed.facts.cwd {
            self.is_excluded = self.request.excluded.contain(folder);
        }
        if self.is_excluded || self.times_left_out().any(is_in) {
            read.counts.left_out += parsed.messages.len();
            return Ok(0);
        }
        if let Some(kind) = &parsed.skipped {
            let kind = kind.chars().take(64).collect();
            *read.counts.skipped.entry(kind).or_default() += 1;
        }
        if parsed.session.is_empty() {
            return Ok(0);
        }
        let id = SessionId::new(parsed.session.as_str())?;
        self.add_facts(&parsed.session, parsed.facts.clone());
        self.add(parsed, (id, value.surrogates), read)
    }

    fn add(
        &mut self,
        parsed: ParsedLine,
        (id, surrogates): (SessionId, usize),
        read: &mut ReadBatch,
    ) -> Result<usize> {
        let now = self.oneiro.now();
        let mut ready = Vec::new();
        let mut used = parsed.usage;
        let mut withheld = 0;
        for (index, message) in parsed.messages.into_iter().enumerate() {
            let mut message = NewMessage::from_json(message)?;
            message.repaired = if index == 0 { surrogates } else { 0 };
            // Private spans are withheld by now, so that places are counted in what is stored.
            harness::mark(self.request.agent, &mut message.role, &mut message.body);
            withheld += message.withheld;
            let external_id = message.external_id.clone().unwrap_or_default();
            ready.push((messages::prepare(message, now)?, external_id));
        }
        read.counts.withheld += withheld;
        let at = match read.groups.iter().position(|group| group.id == id) {
            Some(at) => at,
            None => {
                let draft = Draft::new(self.oneiro, NewSession::with_id(id.clone()))?;
                read.groups.push(Group {
                    id,
                    facts: Facts::default(),
                    draft,
                    messages: Vec::new(),
                    lines: Vec::new(),
                    total: None,
                });
                read.groups.len() - 1
            }
        };
        let Some(group) = read.groups.get_mut(at) else { return Ok(0) };
        if ready.is_empty() {
            group.total = used.take().or(group.total.take());
            return Ok(0);
        }
        let count = ready.len();
        for (message, external_id) in ready {
            group.messages.push(message);
            group.lines.push((external_id, used.take()));
        }
        Ok(count)
    }

    /// Stores a batch; `None` when another process has read on in the file meanwhile.
    fn store(&mut self, groups: Vec<Group>) -> Result<BatchOutcome<Captured>> {
        let path = self.path.to_string_lossy();
        let end = self.lines.reached(self.position)?;
        // Lines that are read again are no reason to read others again.
        let end = self.furthest.clone().filter(|far| far.position > end.position).unwrap_or(end);
        let batch = Batch {
            oneiro: self.oneiro,
            agent: self.request.agent,
            path: &path,
            stem: &self.stem,
            base: self.base.clone(),
            is_reread: self.is_reread,
            pauses: self.request.pauses,
            groups,
            end: end.clone(),
        };
        if self.request.dry_run {
            let (mut counts, begun) = self.oneiro.store.read(|tx| batch.preview(tx))?;
            // Each batch of a new session sees it as new.
            counts.sessions =
                begun.into_iter().filter(|id| self.counted.insert(id.clone())).count();
            return Ok(BatchOutcome::Stored(counts));
        }
        let stored = self.oneiro.store.write_bulk(|tx| batch.store(tx, &self.charged))?;
        Ok(stored.map(|(counts, charged)| {
            self.charged = charged;
            self.base = Some(end);
            counts
        }))
    }
}

impl Facts {
    /// The session with these facts. Values that no session can hold are left out.
    fn session(&self, id: &SessionId) -> NewSession {
        let fits = |text: &Option<String>| {
            text.clone().filter(|text| text.len() <= 4_096 && !text.contains('\0'))
        };
        let is_shallow = |value: &Value| oneiro_model::json::check_depth("metadata", value).is_ok();
        let metadata = self.metadata.iter().filter(|(_, value)| is_shallow(value));
        NewSession {
            id: Some(id.clone()),
            source: self.source.map(str::to_owned),
            model: fits(&self.model),
            system_prompt: self.system_prompt.clone(),
            project: fits(&self.project()),
            cwd: fits(&self.cwd),
            metadata: metadata.map(|(name, value)| (name.clone(), value.clone())).collect(),
            started_at: self.started_at,
            ..NewSession::default()
        }
    }

    /// The project of a session: the last part of its working folder.
    pub(super) fn project(&self) -> Option<String> {
        let cwd = self.cwd.as_deref()?.trim_end_matches(['/', '\\']);
        let last = cwd.rsplit(['/', '\\']).next()?;
        (!last.is_empty()).then(|| last.to_owned())
    }
}
