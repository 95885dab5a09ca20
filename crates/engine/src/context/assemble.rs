//! Assembles a window: the prompt content for a budget, from the summaries, the pinned messages and
//! the newest messages of a session. Reads one snapshot; the mark that it returns tells the next
//! window how this one began.

use super::explain::{Explained, explain};
use super::form::Form;
use super::frontier::Room;
use super::inherited::InheritedRange;
use super::markup::NOTICE_TOKENS;
use super::preamble::{Preamble, ShownSummary, guidance_tokens, system_head};
use super::render::{RenderRequest, Rendered, render};
use super::select::{Selection, Selector, WantedOverview};
use crate::Oneiro;
use crate::sessions::fetch_session;
use oneiro_count::tokens;
use oneiro_model::{
    BreakReason, Message, MessageId, Omitted, PrefixBreak, Result, SessionId, Window, WindowFormat,
    WindowRequest,
};
use oneiro_store::contexts::{self, Epoch, WindowMark};
use oneiro_store::costs::{Cost, RangeTotals};
use oneiro_store::{SessionRef, Tx, messages, sessions};

/// Tokens of the time and the speaker in a transcript line.
const TRANSCRIPT_TOKENS: i64 = 14;

/// Maximum number of results checked for a late arrival.
const LATE_RESULTS: usize = 64;

/// How much of its room a window fills when it moves on, in percent: the rest is for what comes
/// next, so that the next windows begin alike.
const STEP_PERCENT: i64 = 77;

/// A window with what is recorded about it.
pub(super) struct Assembled {
    pub(super) window: Window,
    pub(super) mark: WindowMark,
    /// The mark of the window before.
    pub(super) before: Option<WindowMark>,
    /// Whether it begins where the window before began.
    pub(super) is_kept: bool,
    /// Whether it shows every message.
    pub(super) is_complete: bool,
    /// The overview that it lacks.
    pub(super) wants_overview: Option<WantedOverview>,
}

/// Whether a window goes on from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// It begins as the window before, while that fits.
    Kept,
    /// It is what the history alone makes it.
    Ignored,
}

impl Oneiro {
    pub(super) fn assemble(
        &self,
        tx: &Tx<'_>,
        (key, id): (i64, &SessionId),
        (request, marks): (&WindowRequest, Marks),
    ) -> Result<Assembled> {
        let session = fetch_session(tx, key)?;
        let rules = self.settings_in(tx)?;
        let bare = system_head(&session, |text| self.prompt_tokens(text));
        let available = (request.budget - request.reserve) as i64 - bare.tools_tokens;
        let left = available - bare.tokens;
        let mut preamble = Preamble::fixed(tx, key, left)?;
        let guidance = guidance_tokens(id);
        let fixed = preamble.tokens() + if preamble.is_empty() { 0 } else { guidance };
        let room = Room {
            tokens: left - fixed,
            guidance: if preamble.is_empty() { guidance } else { 0 },
            notice: NOTICE_TOKENS,
            fresh_share: rules.fresh_share as i64,
            overview: rules.condensed_target_tokens as i64 / 2,
        };
        let epoch = contexts::epoch(tx, key)?;
        let of = (window_budget(request), request.format.as_str());
        let before = if marks == Marks::Kept { contexts::window(tx, key, of)? } else { None };
        let extra = if request.format == WindowFormat::Text { TRANSCRIPT_TOKENS } else { 0 };
        let selector = Selector::read(tx, (key, id), extra)?;
        let same = before.as_ref().filter(|mark| mark.history == epoch.history);
        let kept = match same {
            Some(mark) => selector.keep(mark, &epoch, room)?,
            None => None,
        };
        let is_kept = kept.is_some();
        let selection = match kept {
            Some(kept) => kept,
            None => {
                let all = selector.choose(room)?;
                if all.is_complete || same.is_none() {
                    all
                } else {
                    let tokens = room.tokens * STEP_PERCENT / 100;
                    selector.choose(Room { tokens, ..room })?
                }
            }
        };
        let Selection { messages: shown, short, message_tokens, left_out, .. } = selection;
        let entries = self.entries(tx, (key, id), (&shown, short, &selection.inherited))?;
        preamble.summaries.extend(selection.summaries);
        preamble.without(&shown);
        let head = preamble.head(bare, id, left_out);
        let rendered = render(&RenderRequest {
            system: &head.text,
            messages: &entries,
            format: request.format,
        });
        let shortened = shortened(&shown, short);
        let tokens = usize::try_from(head.tokens + head.tools_tokens + message_tokens).unwrap_or(0);
        // A window that shows everything begins with the first message, whenever that comes.
        let first_seq = shown.first().filter(|_| !selection.is_complete).map_or(0, |cost| cost.seq);
        let hash_with_late = |late: usize| {
            prefix_hash(&head.text, &shortened, [epoch.history, first_seq, late as i64])
        };
        let hash = hash_with_late(rendered.late);
        let frontier = preamble.summaries.iter().skip(preamble.written());
        let mark = WindowMark {
            epoch: epoch.number,
            history: epoch.history,
            first_seq: shown.first().map_or(selection.own_from, |cost| cost.seq),
            full_seq: shown
                .get(short)
                .map_or(shown.last().map_or(0, |cost| cost.seq + 1), |cost| cost.seq),
            frontier: frontier.map(ShownSummary::in_mark).collect(),
            omits: left_out.messages > 0,
            hash,
        };
        let limit = request.budget - request.reserve;
        let came_late = came_late(before.as_ref(), rendered.late, hash_with_late);
        let reason = break_reason(before.as_ref(), &mark, (&epoch, is_kept, came_late));
        let cost = tokens - usize::try_from(head.prompt_tokens).unwrap_or(0).min(tokens);
        let mut window = Window {
            tokens,
            budget: request.budget,
            reserve: request.reserve,
            over_budget: tokens.checked_sub(limit).filter(|over| *over > 0),
            summaries: preamble.summaries.iter().map(|one| one.node.id.clone()).collect(),
            omitted: omitted(&rendered, left_out, shortened.clone()),
            prefix_hash: mark.hash.clone(),
            broke: reason.map(|reason| PrefixBreak { reason, tokens: cost }),
            items: None,
            messages: Vec::new(),
            system: None,
            text: None,
        };
        place(&mut window, rendered, request.format);
        if request.explain {
            let explained = Explained {
                tx,
                key,
                preamble: &preamble,
                shown: &shown,
                short,
                left_out,
                head: &head,
            };
            window.items = Some(explain(&explained)?);
        }
        let (is_complete, wants_overview) = (selection.is_complete, selection.wants_overview);
        Ok(Assembled { window, mark, before, is_kept, is_complete, wants_overview })
    }

    /// The shown messages, each in its form.
    fn entries(
        &self,
        tx: &Tx<'_>,
        session: (i64, &SessionId),
        (shown, short, inherited): (&[Cost], usize, &[InheritedRange]),
    ) -> Result<Vec<(Message, Form)>> {
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::with_capacity(shown.len());
        for range in inherited.iter().rev().filter(|range| range.last >= first.seq) {
            found.extend(inherited_messages(tx, *range)?);
        }
        found.extend(messages::between(tx, session.into(), first.seq - 1, last.seq + 1)?);
        let mut costs = shown.iter().enumerate().peekable();
        let mut entries = Vec::with_capacity(shown.len());
        for message in found {
            while costs.next_if(|(_, cost)| cost.seq < message.id.0).is_some() {}
            if let Some((index, cost)) = costs.next_if(|(_, cost)| cost.seq == message.id.0) {
                let is_short = index < short && cost.short_tokens < cost.tokens;
                entries.push((message, if is_short { Form::Short } else { Form::Full }));
            }
        }
        Ok(entries)
    }

    /// Tokens of a text that every window of a session begins with, cached.
    pub(super) fn prompt_tokens(&self, text: &str) -> i64 {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let known = self.prompt_costs.lock().ok().and_then(|known| known.get(&hash).copied());
        if let Some(tokens) = known {
            return tokens;
        }
        let count = tokens(text) as i64 + 4;
        if let Ok(mut known) = self.prompt_costs.lock() {
            if known.len() >= 64 {
                known.clear();
            }
            known.insert(hash, count);
        }
        count
    }
}

fn inherited_messages(tx: &Tx<'_>, range: InheritedRange) -> Result<Vec<Message>> {
    let Some((id, _)) = sessions::id_and_project(tx, range.session_key)? else {
        return Ok(Vec::new());
    };
    let session = SessionRef { key: range.session_key, id: &id };
    messages::between(tx, session, range.first - 1, range.last + 1)
}

/// The budget that identifies windows of one kind.
pub(super) fn window_budget(request: &WindowRequest) -> i64 {
    (request.budget - request.reserve) as i64
}

fn shortened(shown: &[Cost], short: usize) -> Vec<MessageId> {
    let short = shown.iter().take(short).filter(|cost| cost.short_tokens < cost.tokens);
    short.map(|cost| MessageId(cost.seq)).collect()
}

/// The hash of a window's beginning: its head, the shortened messages, the count of history
/// changes, the first message, and the number of late results.
fn prefix_hash(head: &str, shortened: &[MessageId], numbers: [i64; 3]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head.as_bytes());
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    for id in shortened {
        hasher.update(&id.0.to_le_bytes());
    }
    hasher.finalize().to_hex().get(..16).unwrap_or_default().to_owned()
}

fn omitted(rendered: &Rendered, left_out: RangeTotals, shortened: Vec<MessageId>) -> Omitted {
    let message = |seq: i64| (left_out.messages > 0).then_some(MessageId(seq));
    Omitted {
        messages: usize::try_from(left_out.messages).unwrap_or(0),
        tokens: usize::try_from(left_out.tokens).unwrap_or(0),
        first: message(left_out.first),
        last: message(left_out.last),
        shortened,
        pending: rendered.pending.clone(),
        unpaired: rendered.unpaired.clone(),
        reason: (left_out.messages > 0)
            .then(|| "they do not fit the budget and no summary covers them yet".to_owned()),
    }
}

/// Whether late results are the only difference between this window's beginning and the previous
/// one.
fn came_late(
    before: Option<&WindowMark>,
    late: usize,
    hash_with_late: impl Fn(usize) -> String,
) -> bool {
    let Some(before) = before else { return false };
    (0..late).rev().take(LATE_RESULTS).any(|fewer| hash_with_late(fewer) == before.hash)
}

/// Why the previous window is not a prefix of this one.
fn break_reason(
    before: Option<&WindowMark>,
    mark: &WindowMark,
    (epoch, is_kept, came_late): (&Epoch, bool, bool),
) -> Option<BreakReason> {
    let before = before.filter(|before| before.hash != mark.hash)?;
    let is_changed = before.epoch != mark.epoch;
    Some(if before.history != mark.history {
        BreakReason::History
    } else if before.hash.is_empty() {
        // A compaction for this budget chose how it begins.
        BreakReason::Compaction
    } else if !is_kept {
        // What was left out for want of a summary now has one.
        if before.omits && !mark.omits { BreakReason::Compaction } else { BreakReason::Step }
    } else if is_changed && epoch.reason == "pin" {
        BreakReason::Pin
    } else if came_late {
        BreakReason::History
    } else if is_changed && epoch.reason == "compaction" {
        BreakReason::Compaction
    } else {
        BreakReason::Prompt
    })
}

/// Puts the rendered messages where the format expects them.
fn place(window: &mut Window, rendered: Rendered, format: WindowFormat) {
    match format {
        WindowFormat::Text => {
            window.text = Some(rendered.text());
            return;
        }
        WindowFormat::Anthropic => window.system = rendered.system.filter(|text| !text.is_empty()),
        WindowFormat::Openai => {}
    }
    window.messages = rendered.messages;
}
