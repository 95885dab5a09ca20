//! Turns the clauses of an utterance into claims: which rule matches, what forbids it, what it says.

use std::cell::OnceCell;

use crate::clause::{Clause, Join, clauses};
use crate::content::{Draft, finish, without_trailing};
use crate::context::Context;
use crate::dates::{ClauseDates, DatedClause, WrittenOn, clause_dates};
use crate::language::Language;
use crate::patterns::{Rule, RuleBook};
use crate::referent::{Referent, previous_subject};
use crate::sentence::{Sentence, TokenKind, fold, sentences};
use crate::typed::typed_lines;
use crate::{Claim, Speaker, Utterance};

/// Leads that are taken off one after the other, at most.
const MAX_LEADS: usize = 5;

/// Words that say where or when before the subject, at most.
const ADVERBIAL_WORDS: usize = 4;

/// The claims of an utterance, in order. The time it takes grows with the length of the text and
/// nothing else.
pub fn claims(utterance: &Utterance<'_>) -> Vec<Claim> {
    let mut reader = Reader {
        utterance,
        written_on: WrittenOn::new(utterance.at, utterance.utc_offset_seconds),
        language: Language::English,
        is_fiction: false,
        is_injected: false,
        is_retraction: false,
        referent: None,
        claims: Vec::new(),
    };
    typed_lines(utterance.text, |line| {
        sentences(utterance.text, (line.start, line.end), |sentence| {
            reader.read(sentence, line.own);
        });
    });
    let mut claims = reader.claims;
    if reader.is_injected {
        claims.retain(|claim| claim.kind != oneiro_model::MemoryKind::Adaptation);
        claims.iter_mut().for_each(|claim| claim.durable = false);
    }
    claims
}

struct Reader<'u> {
    utterance: &'u Utterance<'u>,
    written_on: WrittenOn,
    /// Of the last sentence that showed one.
    language: Language,
    /// Whether a sentence said that what follows is made up.
    is_fiction: bool,
    /// Whether a sentence tries to give orders to a model.
    is_injected: bool,
    /// Whether the clause before retracts a statement: "No."
    is_retraction: bool,
    referent: Option<Referent>,
    claims: Vec<Claim>,
}

/// A clause whose leads are taken off.
struct StrippedClause {
    /// Where the statement begins.
    from: usize,
    /// Where what rules match begins: after words that say when.
    matched_from: usize,
    to: usize,
    corrects: bool,
}

/// What a rule found.
struct Match<'m> {
    rule: &'static Rule,
    /// Where the statement begins.
    from: usize,
    /// What is written before it.
    subject: Option<&'m str>,
    is_inverted: bool,
}

impl Reader<'_> {
    /// Reads a sentence in the language it is in; in several, if few words show it.
    fn read(&mut self, sentence: &Sentence, own: bool) {
        let mut languages: Vec<Language> = sentence.languages().collect();
        if languages.is_empty() {
            languages.push(self.language);
            languages.extend(Language::ALL.into_iter().filter(|it| *it != self.language));
        }
        let known = self.claims.len();
        for language in languages {
            self.language = language;
            self.read_in(sentence, own, RuleBook::of(language));
            if self.is_fiction || self.claims.len() > known {
                break;
            }
        }
    }

    fn read_in(&mut self, sentence: &Sentence, own: bool, book: &'static RuleBook) {
        if self.is_fiction {
            return;
        }
        if book.frames.matches(&sentence.folded) {
            self.is_fiction = true;
            return;
        }
        self.is_injected |= book.injections.matches(&sentence.folded);
        if sentence.is_question {
            self.referent = None;
            return;
        }
        let parts = clauses(sentence, book);
        let mut subject: Option<String> = None;
        let mut referent = self.referent.take();
        let mut has_referent = false;
        for (at, clause) in parts.iter().enumerate() {
            let mut bare = self.strip(sentence, clause, book);
            let is_lead_alone = bare.from >= bare.to;
            bare.corrects |= self.is_retraction;
            self.is_retraction = is_lead_alone && bare.corrects;
            if is_lead_alone {
                continue;
            }
            if clause.join != Join::SharedSubject {
                subject = own_subject(self.utterance.text, sentence, &bare, book);
            }
            let context =
                Context { sentence, book, clauses: &parts, at, own, referent: referent.as_ref() };
            let claim = self.claim(&context, &bare, subject.as_deref());
            has_referent |= context.is_pronoun(bare.matched_from);
            let next = Referent::of(self.utterance.text, sentence, bare.matched_from, book);
            if next.is_some() {
                referent = next;
                has_referent = true;
            }
            let Some(claim) = claim else { continue };
            let is_known =
                self.claims.iter().any(|known| fold(&known.content) == fold(&claim.content));
            if !is_known {
                self.claims.push(claim);
            }
        }
        self.referent = referent.filter(|_| has_referent);
    }

    /// Takes off greetings, conjunctions and other leads.
    fn strip(&self, sentence: &Sentence, clause: &Clause, book: &RuleBook) -> StrippedClause {
        let mut from = clause.from;
        let to = clause.to;
        let mut corrects = false;
        let skip = |from: usize, end: usize| {
            let base = sentence.tokens.get(from).map_or(0, |token| token.fold_start);
            let mut next = from;
            while next < to
                && sentence.tokens.get(next).is_some_and(|it| it.fold_start < base + end)
            {
                next += 1;
            }
            let is_mark =
                |at: usize| sentence.tokens.get(at).is_some_and(|it| it.kind != TokenKind::Word);
            while next < to && is_mark(next) {
                next += 1;
            }
            next
        };
        for _ in 0..MAX_LEADS {
            let folded = sentence.fold_of((from, to));
            let correcting = book.correcting_leads.end(folded);
            let Some(end) = correcting.or_else(|| book.leads.end(folded)) else { break };
            corrects |= correcting.is_some();
            from = skip(from, end);
            if from >= to {
                return StrippedClause { from, matched_from: from, to, corrects };
            }
        }
        let timed = book.time_leads.end(sentence.fold_of((from, to)));
        let matched_from = timed.map_or(from, |end| skip(from, end));
        StrippedClause {
            from,
            matched_from: if matched_from < to { matched_from } else { from },
            to,
            corrects,
        }
    }

    fn claim(
        &self,
        context: &Context<'_>,
        bare: &StrippedClause,
        subject: Option<&str>,
    ) -> Option<Claim> {
        let &Context { sentence, book, clauses, at, .. } = context;
        let clause = clauses.get(at)?;
        if clause.join == Join::Subordinate {
            return None;
        }
        let found = self.find(context, bare, subject)?;
        let rule = found.rule;
        let to = bare.to;
        if context.is_forbidden(rule, (found.from, to)) {
            return None;
        }
        let statement_from = if found.is_inverted { bare.matched_from } else { found.from };
        let tokens = without_trailing(sentence, (statement_from, to), book);
        let dates = self.dates(sentence, tokens, rule.dated);
        let last_day = dates.last_ahead(self.written_on.day).filter(|_| rule.dated);
        if rule.dated && last_day.is_none() {
            return None;
        }
        let (content, is_certain) = self.content(context, &found, (tokens, &dates))?;
        let (first, last) =
            (sentence.tokens.get(tokens.0)?, sentence.tokens.get(tokens.1.checked_sub(1)?)?);
        let folded = sentence.fold_of((clause.from, clause.to));
        let is_hedged = book.hedges.matches(folded);
        let behind = dates.first_behind(self.written_on.day).filter(|_| !rule.dated);
        Some(Claim {
            kind: rule.kind,
            content,
            quote: first.start..last.end,
            rule: rule.id,
            durable: rule.durable
                && is_certain
                && context.own
                && !is_hedged
                && self.utterance.speaker == Speaker::Person,
            corrects: bare.corrects || rule.corrects || book.contrasts.matches(folded),
            valid_from: behind.map(|day| self.written_on.start_of(day)),
            valid_until: last_day.map(|day| self.written_on.end_of(day)),
        })
    }

    fn dates(&self, sentence: &Sentence, tokens: (usize, usize), is_plan: bool) -> ClauseDates {
        clause_dates(&DatedClause {
            text: self.utterance.text,
            sentence,
            tokens,
            language: self.language,
            today: self.written_on.day,
            is_plan,
        })
    }

    /// The rule that a clause matches.
    fn find<'m>(
        &self,
        context: &Context<'m>,
        bare: &StrippedClause,
        subject: Option<&'m str>,
    ) -> Option<Match<'m>> {
        let &Context { sentence, book, clauses, at, .. } = context;
        let is_shared = clauses.get(at)?.join == Join::SharedSubject;
        let to = bare.to;
        let has_day = OnceCell::new();
        let names_day = || {
            *has_day.get_or_init(|| {
                let dates = self.dates(sentence, (bare.from, to), true);
                dates.last_ahead(self.written_on.day).is_some()
            })
        };
        let speaks = |rule: &Rule| {
            rule.assistant == (self.utterance.speaker == Speaker::Assistant)
                && (!rule.previous || bare.corrects && self.utterance.previous.is_some())
                && (!rule.capital || has_name(self.utterance.text, sentence, (bare.from, to)))
                && (!rule.dated || names_day())
        };
        let is_led = |from: usize| clauses.get(at).is_some_and(|clause| from > clause.from);
        let inverted = |from: usize| book.inverted.matches(sentence.fold_of((from, to)));
        if is_shared && let Some(subject) = subject {
            let folded = format!("{} {}", fold(subject), sentence.fold_of((bare.from, to)));
            let rule = book.find(&folded, speaks)?;
            return Some(Match {
                rule,
                from: bare.from,
                subject: Some(subject),
                is_inverted: false,
            });
        }
        if let Some(referent) = context.referent
            && referent.fits(sentence.word(bare.matched_from), book)
        {
            let from = bare.matched_from + 1;
            let folded = format!("{} {}", fold(&referent.words), sentence.fold_of((from, to)));
            // A contraction has its verb in the same token: she's.
            if sentence.word(bare.matched_from).contains(' ') {
                return None;
            }
            let rule = book.find(&folded, speaks)?;
            return Some(Match { rule, from, subject: Some(&referent.words), is_inverted: false });
        }
        let starts = [bare.from, bare.matched_from, after_adverbial(sentence, bare, book)];
        for (index, from) in starts.into_iter().enumerate() {
            if index > 0 && starts.iter().take(index).any(|earlier| *earlier == from) {
                continue;
            }
            let Some(rule) = book.find(sentence.fold_of((from, to)), speaks) else { continue };
            let is_inverted = inverted(from);
            if is_inverted && !is_led(from) {
                continue;
            }
            // Words that say when stay where they are, and so does the verb behind them.
            let keeps_time = from > bare.from;
            let from = if keeps_time { bare.from } else { from };
            return Some(Match {
                rule,
                from,
                subject: None,
                is_inverted: is_inverted && !keeps_time,
            });
        }
        None
    }

    /// The content, and whether its subject is certain.
    fn content(
        &self,
        context: &Context<'_>,
        found: &Match<'_>,
        (tokens, dates): ((usize, usize), &ClauseDates),
    ) -> Option<(String, bool)> {
        let sentence = context.sentence;
        let mut tokens = tokens;
        if found.rule.heading {
            let colon = (tokens.0..tokens.1).find(|at| {
                sentence.tokens.get(*at).is_some_and(|it| it.kind == TokenKind::Colon)
            })?;
            tokens.0 = colon + 1;
        }
        let draft = Draft {
            text: self.utterance.text,
            sentence,
            tokens,
            subject: found.subject,
            replacements: &dates.replacements,
            is_inverted: found.is_inverted,
        };
        let content = draft.write();
        if !found.rule.previous {
            return content.map(|content| (content, true));
        }
        // "It is on Wednesday": the subject is in the message before.
        let (subject, is_own) = previous_subject(self.utterance.previous?)?;
        let is_one = self.language == Language::Spanish || sentence.word(tokens.0).contains(' ');
        let verb_tokens = if is_one { 1 } else { 2 };
        let draft = Draft { tokens: (tokens.0 + verb_tokens, tokens.1), ..draft };
        let first = sentence.tokens.get(draft.tokens.0)?;
        let rest = draft.write().or_else(|| {
            let end = sentence.tokens.get(tokens.1.checked_sub(1)?)?.end;
            self.utterance.text.get(first.start..end).map(str::to_owned)
        })?;
        // The first letter as it was written, not as a sentence begins.
        let written = self.utterance.text.get(first.start..)?.chars().next()?;
        let rest: String = if written.is_lowercase() {
            let letter = rest.chars().next()?;
            letter.to_lowercase().chain(rest.chars().skip(1)).collect()
        } else {
            rest
        };
        let verb = match self.language {
            Language::English => "is",
            Language::German => "ist",
            Language::Spanish => sentence.word(tokens.0 + verb_tokens - 1),
        };
        finish(&format!("{subject} {verb} {rest}")).map(|content| (content, is_own))
    }
}

/// The subject of a clause, if it is a word that later verbs share: I, we, ich, wir.
fn own_subject(
    text: &str,
    sentence: &Sentence,
    bare: &StrippedClause,
    book: &RuleBook,
) -> Option<String> {
    let token = sentence.tokens.get(bare.matched_from)?;
    let word = sentence.word(bare.matched_from);
    book.own_subjects.end(word)?;
    let written = text.get(token.start..token.end)?;
    // A contraction has the verb with it: I'm.
    let letters = written.split(['\'', '’']).next().unwrap_or(written);
    Some(letters.to_owned())
}

/// Where a clause begins whose subject comes after a few words that say where or when: "on flights I
/// always take the window seat".
fn after_adverbial(sentence: &Sentence, bare: &StrippedClause, book: &RuleBook) -> usize {
    let starts = |at: &usize| {
        let rest = sentence.fold_of((*at, bare.to));
        book.own_subjects.matches(rest) || book.inverted.matches(rest)
    };
    let is_place = book.prepositions.matches(sentence.word(bare.from));
    let mut places = bare.from + 1..bare.to.min(bare.from + ADVERBIAL_WORDS + 1);
    // "Krimis lese ich am liebsten": the object is one word in front of the verb.
    let is_object = book.inverted.matches(sentence.fold_of((bare.from + 1, bare.to)))
        && !book.pointers.matches(sentence.word(bare.from));
    places.find(starts).filter(|_| is_place || is_object).unwrap_or(bare.from)
}

/// Whether the word after the verb of a short clause is written like a name.
fn has_name(text: &str, sentence: &Sentence, (from, to): (usize, usize)) -> bool {
    let is_verb = |at: &usize| {
        let word = sentence.word(*at);
        word.split(' ')
            .any(|part| matches!(part, "am" | "is" | "are" | "bin" | "ist" | "soy" | "es"))
    };
    let verb = (from..to).find(is_verb);
    let name =
        verb.and_then(|at| sentence.tokens.get(at + 1)).filter(|token| token.start < token.end);
    let mut letters =
        name.and_then(|token| text.get(token.start..token.end)).unwrap_or_default().chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}
