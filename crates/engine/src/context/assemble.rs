//! Assembles a window: the prompt content for a budget, from the summaries, the pinned messages and
//! the newest messages of a session. Reads one snapshot; the only write is the mark that tells the
//! next window how this one began.

use super::cut::{Before, Cut, More, Reach, Room, cut};
use super::form::Form;
use super::markup::NOTICE_TOKENS;
use super::outline::Outline;
use super::preamble::{Preamble, system_head};
use super::render::{RenderRequest, Rendered, render};
use crate::Oneiro;
use crate::sessions::{fetch_session, key_of};
use crate::views::Context;
use oneiro_count::tokens;
use oneiro_model::{
    BreakReason, Message, MessageId, Omitted, PrefixBreak, Result, SessionId, Window, WindowFormat,
    WindowRequest,
};
use oneiro_store::contexts::{self, WindowMark};
use oneiro_store::costs::{self, Begins, Cost, RangeTotals};
use oneiro_store::{SessionRef, Tx, messages};
use std::collections::HashMap;

/// Tokens of the time and the speaker in a transcript line.
const TRANSCRIPT_TOKENS: i64 = 14;

/// Maximum number of results checked for a late arrival.
const LATE_RESULTS: usize = 64;

/// A window with what is recorded about it.
struct Assembled {
    window: Window,
    mark: WindowMark,
    before: Option<WindowMark>,
    /// Tokens of the whole context.
    context_tokens: i64,
}

impl Context<'_> {
    /// The prompt content of a session within a budget. Unless it only peeks, a context over the
    /// budget is compacted: immediately as far as the time limit allows, the rest in the
    /// background.
    pub fn window(&self, id: &SessionId, request: &WindowRequest) -> Result<Window> {
        request.check()?;
        let key = self.oneiro.store.read(|tx| key_of(tx, id))?;
        self.oneiro.count_session((key, id))?;
        let mut assembled = self.oneiro.store.read(|tx| self.assemble(tx, (key, id), request))?;
        if !request.peek
            && self.oneiro.compact_over_budget((key, id), request, assembled.context_tokens)?
        {
            assembled = self.oneiro.store.read(|tx| self.assemble(tx, (key, id), request))?;
        }
        if !request.peek && assembled.before.as_ref() != Some(&assembled.mark) {
            let (mark, now) = (assembled.mark, self.oneiro.now());
            let kept = self.oneiro.store.write_derived(|tx| {
                let of = (window_budget(request), request.format.as_str());
                contexts::set_window(tx, key, (of, &mark), now)
            });
            if let Err(error) = kept {
                // Without the mark, the next cut finds nearly the same beginning.
                tracing::info!(%error, "a window was not marked");
            }
        }
        Ok(assembled.window)
    }

    fn assemble(
        &self,
        tx: &Tx<'_>,
        (key, id): (i64, &SessionId),
        request: &WindowRequest,
    ) -> Result<Assembled> {
        let session = fetch_session(tx, key)?;
        let outline = Outline::read(tx, (key, id), true)?;
        let head = system_head(&session, |text| self.oneiro.prompt_tokens(text));
        let available = (request.budget - request.reserve) as i64 - head.tools_tokens;
        let left = available - head.tokens;
        let mut preamble = Preamble::of(tx, &outline, id, left)?;
        let room = Room {
            whole: left - preamble.tokens(),
            cut: left - preamble.tokens() - NOTICE_TOKENS,
            step: (request.budget as i64 / 4).max(1),
        };
        let (mut items, complete) = candidates(tx, &outline, room)?;
        if request.format == WindowFormat::Text {
            for cost in &mut items {
                cost.tokens += TRANSCRIPT_TOKENS;
                cost.short_tokens += TRANSCRIPT_TOKENS;
            }
        }
        let of = (window_budget(request), request.format.as_str());
        let before = contexts::window(tx, key, of)?;
        let same = before.as_ref().filter(|mark| mark.epoch == outline.epoch.number);
        let kept = same.map(|mark| Before {
            first_seq: mark.first_seq,
            full_seq: mark.full_seq,
            step: mark.step,
        });
        let cut = cut(&items, room, complete, kept);
        let shown = items.get(cut.first..).unwrap_or_default();
        let left_out = left_out(tx, &outline, shown.first().map_or(i64::MAX, |cost| cost.seq))?;
        let entries = self.entries(tx, (&outline, id), (shown, cut))?;
        preamble.without(shown);
        let head = preamble.head(head, left_out);
        let rendered = render(&RenderRequest {
            system: &head.text,
            messages: &entries,
            format: request.format,
        });
        let shortened = shortened(shown, cut);
        let tokens = usize::try_from(head.tokens + head.tools_tokens + cut.tokens).unwrap_or(0);
        let hash_with_late =
            |late: usize| prefix_hash(&head.text, &shortened, (outline.epoch.history, late as i64));
        let hash = hash_with_late(rendered.late);
        let mark = WindowMark {
            epoch: outline.epoch.number,
            step: cut.step,
            first_seq: shown.first().map_or(0, |cost| cost.seq),
            full_seq: items
                .get(cut.full)
                .map_or(items.last().map_or(0, |cost| cost.seq + 1), |cost| cost.seq),
            hash,
        };
        let limit = request.budget - request.reserve;
        let mut window = Window {
            tokens,
            budget: request.budget,
            reserve: request.reserve,
            over_budget: tokens.checked_sub(limit).filter(|over| *over > 0),
            summaries: outline.shown.iter().map(|node| node.id.clone()).collect(),
            omitted: omitted(&rendered, left_out, shortened.clone()),
            prefix_hash: mark.hash.clone(),
            broke: broke(
                before.as_ref(),
                &mark,
                &outline,
                came_late(before.as_ref(), rendered.late, hash_with_late),
            )
            .map(|reason| PrefixBreak { reason, tokens: tokens - head.prompt_tokens as usize }),
            items: None,
            messages: Vec::new(),
            system: None,
            text: None,
        };
        place(&mut window, rendered, request.format);
        let context_tokens = head.prompt_tokens + head.tools_tokens + outline.tokens();
        if request.explain {
            window.items = Some(super::explain::explain(&super::explain::Explained {
                outline: &outline,
                preamble: &preamble,
                shown,
                cut,
                left_out,
                head: &head,
            }));
        }
        Ok(Assembled { window, mark, before, context_tokens })
    }

    /// The shown messages, each in its form.
    fn entries(
        &self,
        tx: &Tx<'_>,
        (outline, id): (&Outline, &SessionId),
        (shown, cut): (&[Cost], Cut),
    ) -> Result<Vec<(Message, Form)>> {
        let Some(first) = shown.first() else { return Ok(Vec::new()) };
        let mut found: HashMap<i64, Message> = HashMap::with_capacity(shown.len());
        for (after, before) in outline.gaps.iter().map(|gap| gap.between) {
            if before > first.seq {
                let after = after.max(first.seq - 1);
                for message in
                    messages::between(tx, SessionRef { key: outline.key, id }, after, before)?
                {
                    found.insert(message.id.0, message);
                }
            }
        }
        let whole = shown.len() - (cut.full - cut.first).min(shown.len());
        let full_from = shown.len() - whole;
        let entries = shown.iter().enumerate().filter_map(|(index, cost)| {
            let form = if index < full_from { Form::Short } else { Form::Full };
            Some((found.remove(&cost.seq)?, form))
        });
        Ok(entries.collect())
    }
}

impl Oneiro {
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

/// The budget that identifies windows of one kind.
fn window_budget(request: &WindowRequest) -> i64 {
    (request.budget - request.reserve) as i64
}

/// The messages that may be in a window, oldest first, and whether they are complete.
fn candidates(tx: &Tx<'_>, outline: &Outline, room: Room) -> Result<(Vec<Cost>, bool)> {
    let (mut items, mut reach, mut complete) = (Vec::new(), Reach::default(), true);
    let (mut turn, mut step) = (None, false);
    outline.each_back(tx, |cost| {
        items.push(cost);
        step |= cost.begins != Begins::Nothing;
        complete = match reach.take(&cost, room) {
            More::Yes => true,
            More::No => false,
            // The newest turn is always included. Without user messages it has no beginning, and
            // the newest step is included.
            More::ForTheTurn => {
                let key = outline.key;
                let begun = *turn.get_or_insert_with(|| costs::last_turn(tx, key).ok().flatten());
                begun.map_or(!step, |begun| cost.seq > begun)
            }
        };
        complete
    })?;
    items.reverse();
    Ok((items, complete))
}

/// What no summary covers and the window does not show: everything uncovered before `first`.
fn left_out(tx: &Tx<'_>, outline: &Outline, first: i64) -> Result<RangeTotals> {
    let mut all = RangeTotals::default();
    for gap in &outline.gaps {
        let (after, before) = gap.between;
        if after >= first {
            break;
        }
        let some = if before <= first { gap.all } else { outline.together(tx, (after, first))? };
        if some.messages > 0 {
            all.first = if all.messages == 0 { some.first } else { all.first };
            all.last = some.last;
            all.messages += some.messages;
            all.tokens += some.tokens;
        }
    }
    Ok(all)
}

fn shortened(shown: &[Cost], cut: Cut) -> Vec<MessageId> {
    let short = shown.get(..cut.full - cut.first).unwrap_or(shown);
    let short = short.iter().filter(|cost| cost.short_tokens < cost.tokens);
    short.map(|cost| MessageId(cost.seq)).collect()
}

/// The hash of a window's beginning: its head, the shortened messages, the count of history
/// changes, and the number of late results. The head tells where the window begins.
fn prefix_hash(head: &str, shortened: &[MessageId], (history, late): (i64, i64)) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head.as_bytes());
    hasher.update(&history.to_le_bytes());
    hasher.update(&late.to_le_bytes());
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
fn broke(
    before: Option<&WindowMark>,
    mark: &WindowMark,
    outline: &Outline,
    came_late: bool,
) -> Option<BreakReason> {
    let before = before.filter(|before| before.hash != mark.hash)?;
    Some(match (before.epoch == mark.epoch, outline.epoch.reason.as_str()) {
        (false, "pin") => BreakReason::Pin,
        (false, "history") => BreakReason::History,
        (false, _) => BreakReason::Compaction,
        (true, _) if before.step != mark.step => BreakReason::Step,
        (true, _) if came_late => BreakReason::History,
        (true, _) => BreakReason::Prompt,
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
