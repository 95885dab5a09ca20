//! Parses a conversation into sentences with their purpose, and clauses with their terms.

use oneiro_text::{Analyzer, Kind, Token, is_first_person, may_name_date};

use crate::clause::{Link, split_points, trim_marks};
use crate::connectives::{continues, needs_what_follows, needs_what_precedes};
use crate::cues::{Cue, Cues, cues, is_lead, is_second_person, only_leads, praises};
use crate::dates::Dated;
use crate::machine::{Machine, machine};
use crate::repeated::mark_repeated_lines;
use crate::segment::{self, Shape};
use crate::terms::{Occurrence, TermId, Terms};
use crate::utterance::{Source, Utterance, speakers};

/// Shorter clauses are merged with their neighbour. A half word is a character of a script without
/// spaces.
const MIN_CLAUSE_HALF_WORDS: u32 = 6;

/// Clauses that are no longer say nothing by themselves: "Fixed it."
const MAX_EMPTY_HALF_WORDS: u32 = 4;

/// A sentence and its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sentence {
    pub utterance: u32,
    pub start: usize,
    pub end: usize,
    pub line: u32,
    pub shape: Shape,
    pub cues: Cues,
    pub machine: Option<Machine>,
    pub is_question: bool,
    /// Whether the speaker speaks of themselves, of the other person, and with praise.
    pub is_own: bool,
    is_about_other: bool,
    praises: bool,
    exclaims: bool,
    dated: Dated,
    pub has_number: bool,
    /// Whether a part of it is set in bold.
    pub is_emphasised: bool,
    /// Whether it is the first, or the last, of its utterance.
    pub first: bool,
    pub last: bool,
}

impl Sentence {
    /// Whether it says on which day, or in which week, month or year.
    pub fn names_date(&self) -> bool {
        self.dated.is_date()
    }

    /// Whether it only praises the other person.
    fn is_compliment(&self) -> bool {
        let is_news = self.is_own || self.has_number || self.is_question || self.settles();
        self.praises && (self.is_about_other || self.exclaims) && !is_news
    }

    /// Whether it decides or corrects something, or says how something ended.
    pub fn settles(&self) -> bool {
        let settling = [Cue::Decision, Cue::Correction, Cue::Outcome, Cue::Error];
        settling.into_iter().any(|cue| self.cues.has(cue))
    }
}

/// A piece of a sentence that is kept or left out as a whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clause {
    pub sentence: u32,
    pub start: usize,
    pub end: usize,
    pub dependency: Dependency,
    /// Whether anything in it says what is spoken of.
    is_informative: bool,
    /// Whether a word in it may be part of a relative date.
    pub names_time: bool,
    terms: (u32, u32),
}

/// What a clause needs in order to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dependency {
    None,
    /// The clause before it.
    Previous,
    /// Something that is not in the source.
    Missing,
}

/// The priority of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// It names its topic.
    Informative,
    /// It does not, but is better than an empty line.
    Filler,
    /// It is a pleasantry, a fragment, or one of many lines that a machine printed: only where
    /// there is nothing else at all.
    Noise,
}

/// A parsed conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub sentences: Vec<Sentence>,
    pub clauses: Vec<Clause>,
    pub terms: Terms,
    lists: Vec<TermId>,
}

/// A piece of a sentence between two split points.
#[derive(Debug, Clone, Copy)]
struct Piece {
    sentence: u32,
    start: usize,
    end: usize,
    terms: (u32, u32),
    half_words: u32,
    /// Whether anything in it says what is spoken of.
    is_informative: bool,
    names_time: bool,
    link: Link,
    opens_sentence: bool,
}

impl Conversation {
    /// Parses utterances.
    pub fn of(utterances: &[Utterance<'_>], analyzer: &mut Analyzer) -> Conversation {
        let terms = Terms::new(speakers(utterances));
        let mut conversation = Conversation { terms, ..Conversation::default() };
        let mut buffers = Buffers::default();
        for (number, utterance) in utterances.iter().enumerate() {
            conversation.add(number as u32, utterance, (analyzer, &mut buffers));
        }
        mark_repeated_lines(&mut conversation.sentences, utterances);
        conversation
    }

    /// The terms of a clause, each once.
    pub fn terms_of(&self, clause: &Clause) -> &[TermId] {
        self.lists.get(clause.terms.0 as usize..clause.terms.1 as usize).unwrap_or_default()
    }

    /// The priority of a clause.
    pub fn tier(&self, clause: &Clause) -> Tier {
        let Some(sentence) = self.sentence_of(clause) else { return Tier::Noise };
        let is_noise =
            matches!(sentence.machine, Some(Machine::Log | Machine::Frame | Machine::Listing));
        let is_polite = sentence.cues.has(Cue::SmallTalk)
            || (!clause.is_informative && sentence.cues.has(Cue::Courtesy))
            || sentence.is_compliment();
        if is_noise || is_polite || clause.dependency == Dependency::Missing {
            Tier::Noise
        } else if clause.is_informative && sentence.machine != Some(Machine::Code) {
            Tier::Informative
        } else {
            Tier::Filler
        }
    }

    /// The sentence of a clause.
    pub fn sentence_of(&self, clause: &Clause) -> Option<&Sentence> {
        self.sentences.get(clause.sentence as usize)
    }

    fn add(
        &mut self,
        number: u32,
        utterance: &Utterance<'_>,
        (analyzer, buffers): (&mut Analyzer, &mut Buffers),
    ) {
        let text = utterance.text;
        buffers.sentences.clear();
        buffers.pieces.clear();
        let first = self.sentences.len();
        // Terms that an earlier extract could only name make no sentence, but they count.
        if utterance.source != Source::Terms {
            segment::sentences(text, &mut buffers.sentences);
        }
        let mut in_stack = false;
        for sentence in &buffers.sentences {
            let shown = text.get(sentence.start..sentence.end).unwrap_or_default();
            let id = self.sentences.len() as u32;
            let mut machine = machine(shown);
            // A stack goes on while its lines are indented; what comes after them was raised.
            let is_frame = machine == Some(Machine::Frame) || (in_stack && sentence.indented);
            let raised = in_stack && !is_frame;
            if is_frame {
                machine = Some(Machine::Frame);
            }
            in_stack = is_frame;
            let named = shown.contains("Error: ") || shown.contains("Exception: ");
            let mut cues = Cues::default();
            if raised {
                cues.add(Cue::Raised);
            }
            if raised || named {
                cues.add(Cue::Error);
            }
            self.sentences.push(Sentence {
                utterance: number,
                start: sentence.start,
                end: sentence.end,
                line: sentence.line,
                shape: sentence.shape,
                cues,
                machine,
                is_question: shown
                    .trim_end_matches(['"', '”', ')', '*', '」', ' ', '!'])
                    .ends_with(['?', '？', '؟']),
                is_own: false,
                is_about_other: false,
                praises: false,
                exclaims: shown.ends_with(['!', '！']),
                dated: Dated::default(),
                is_emphasised: shown.contains("**"),
                has_number: shown.bytes().any(|byte| byte.is_ascii_digit()),
                first: false,
                last: false,
            });
            pieces_of(id, (sentence, shown), machine.is_some(), &mut buffers.pieces);
        }
        let added = self.sentences.get_mut(first..).unwrap_or_default();
        if let Some(sentence) = added.first_mut() {
            sentence.first = true;
        }
        if let Some(sentence) = added.last_mut() {
            sentence.last = true;
        }
        let mut at = 0;
        let mut polite = 0;
        cues(text, |place, cue| {
            while added.get(at).is_some_and(|sentence| sentence.end <= place.start) {
                at += 1;
                polite = 0;
            }
            let Some(sentence) = added.get_mut(at) else { return };
            sentence.cues.add(cue);
            if cue == Cue::Courtesy {
                polite += place.len();
                if polite * 2 >= sentence.end - sentence.start {
                    sentence.cues.add(Cue::SmallTalk);
                }
            }
        });
        self.read_tokens(number, utterance, (analyzer, &mut buffers.pieces));
        self.merge(text, &buffers.pieces);
    }

    fn read_tokens(
        &mut self,
        number: u32,
        utterance: &Utterance<'_>,
        (analyzer, pieces): (&mut Analyzer, &mut [Piece]),
    ) {
        let text = utterance.text;
        let source = match utterance.source {
            Source::Speaker | Source::Agent | Source::Terms => 1.0,
            Source::Call { .. } | Source::System | Source::Tool => 0.3,
        };
        let (terms, lists, sentences) = (&mut self.terms, &mut self.lists, &mut self.sentences);
        let start = lists.len() as u32;
        pieces.iter_mut().for_each(|piece| piece.terms = (start, start));
        let mut at = 0;
        analyzer.tokens(text, |token| {
            let mut occurrence =
                Occurrence { utterance: number, sentence: u32::MAX - 1, named: false, source };
            if utterance.source == Source::Terms {
                terms.record(&token, occurrence);
                return;
            }
            while pieces.get(at).is_some_and(|piece| piece.end <= token.start as usize) {
                at += 1;
                if let Some(piece) = pieces.get_mut(at) {
                    let start = lists.len() as u32;
                    piece.terms = (start, start);
                }
            }
            let Some(piece) = pieces.get_mut(at) else { return };
            // What is not in a sentence is markup or a blob.
            if (token.start as usize) < piece.start {
                return;
            }
            occurrence.sentence = piece.sentence;
            let opens = piece.opens_sentence && piece.half_words == 0;
            occurrence.named = !opens
                && text
                    .get(token.start as usize..)
                    .is_some_and(|rest| rest.starts_with(char::is_uppercase));
            piece.count(&token, opens);
            if let Some(sentence) = sentences.get_mut(piece.sentence as usize) {
                sentence.is_own |= is_first_person(token.norm);
                sentence.is_about_other |= is_second_person(token.norm);
                sentence.praises |= praises(token.norm);
                sentence.dated.add(token.norm);
            }
            if let Some(id) = terms.record(&token, occurrence) {
                piece.is_informative |= terms.get(id).is_some_and(|term| term.is_informative());
                piece.names_time |= may_name_date(token.norm);
                lists.push(id);
                piece.terms.1 = lists.len() as u32;
            }
        });
    }

    /// Makes clauses of pieces: one that says nothing alone stays with its neighbour.
    fn merge(&mut self, text: &str, pieces: &[Piece]) {
        let mut open: Option<Piece> = None;
        for piece in pieces {
            open = match open {
                Some(open) if open.takes(text, piece) => Some(Piece {
                    end: piece.end,
                    terms: (open.terms.0, piece.terms.1.max(open.terms.1)),
                    half_words: open.half_words + piece.half_words,
                    is_informative: open.is_informative || piece.is_informative,
                    names_time: open.names_time || piece.names_time,
                    ..open
                }),
                _ => {
                    self.close(text, open);
                    Some(*piece)
                }
            };
        }
        self.close(text, open);
    }

    fn close(&mut self, text: &str, piece: Option<Piece>) {
        let Some(piece) = piece else { return };
        let (start, end) = trim_marks(text, (piece.start, piece.end));
        let (from, to) = piece.terms;
        let list = self.lists.get_mut(from as usize..to as usize).unwrap_or_default();
        list.sort_unstable();
        let mut kept = 0;
        for at in 0..list.len() {
            if at == 0 || list.get(at) != list.get(kept - 1) {
                list.swap(at, kept);
                kept += 1;
            }
        }
        let shown = text.get(start..end).unwrap_or_default();
        if start < end {
            self.clauses.push(Clause {
                sentence: piece.sentence,
                start,
                end,
                dependency: self.dependency(text, &piece),
                // A word alone is a cry, or a name called; two have lost what they speak of.
                is_informative: piece.is_informative
                    && piece.half_words > MAX_EMPTY_HALF_WORDS
                    && !is_lead(shown),
                names_time: piece.names_time,
                terms: (from, from + kept as u32),
            });
        }
    }

    fn dependency(&self, text: &str, piece: &Piece) -> Dependency {
        let Some(sentence) = self.sentences.get(piece.sentence as usize) else {
            return Dependency::Missing;
        };
        // "Like" and "or" begin names of programs and rows of tables; "who" begins a question.
        let is_prose = sentence.machine.is_none() && sentence.shape != Shape::Code;
        let shown = text.get(piece.start..piece.end).unwrap_or_default();
        let is_dependent = is_prose && !sentence.is_question && needs_what_precedes(shown);
        if piece.link != Link::Tied && !is_dependent {
            return Dependency::None;
        }
        let before = self.clauses.last().and_then(|clause| self.sentence_of(clause));
        match before {
            Some(before) if before.utterance == sentence.utterance => Dependency::Previous,
            _ => Dependency::Missing,
        }
    }
}

impl Piece {
    /// Whether the next piece is part of the same clause.
    fn takes(&self, text: &str, next: &Piece) -> bool {
        if self.sentence != next.sentence {
            return false;
        }
        let is_short = self.half_words < MIN_CLAUSE_HALF_WORDS;
        // A word of address, or one that only leads on, is left behind, unless it is gone on with:
        // "Thanks, for the map".
        let shown = text.get(self.start..self.end).unwrap_or_default();
        if self.opens_sentence && next.link != Link::Tied && is_lead(shown) {
            return false;
        }
        let goes_on = || text.get(next.start..next.end).is_some_and(continues);
        if is_short
            && !self.is_informative
            && next.is_informative
            && next.link != Link::Tied
            && !goes_on()
        {
            return false;
        }
        next.link == Link::Comma
            || next.half_words < MIN_CLAUSE_HALF_WORDS
            || (is_short && self.is_informative)
            || (self.link != Link::Tied && needs_what_follows(shown))
    }

    /// Counts a word. Words that only introduce the sentence are left out.
    fn count(&mut self, token: &Token<'_>, opens: bool) {
        if opens && token.kind == Kind::Word && only_leads(token.norm) {
            self.start = (token.end as usize).min(self.end);
            return;
        }
        self.half_words += match token.kind {
            Kind::Word | Kind::Whole => 2,
            Kind::Cjk | Kind::Gram => 1,
            _ => 0,
        };
    }
}

/// Buffers that are reused for each utterance.
#[derive(Default)]
struct Buffers {
    sentences: Vec<segment::Sentence>,
    pieces: Vec<Piece>,
}

fn pieces_of(
    id: u32,
    (sentence, shown): (&segment::Sentence, &str),
    is_machine: bool,
    into: &mut Vec<Piece>,
) {
    let mut start = sentence.start;
    let mut link = Link::Free;
    let mut push = |start: usize, end: usize, link: Link| {
        into.push(Piece {
            sentence: id,
            start,
            end,
            terms: (0, 0),
            half_words: 0,
            is_informative: false,
            names_time: false,
            link,
            opens_sentence: start == sentence.start,
        });
    };
    if sentence.shape != Shape::Code && !is_machine {
        split_points(shown, |cut, next| {
            let cut = sentence.start + cut;
            if cut > start {
                push(start, cut, link);
                (start, link) = (cut, next);
            }
        });
    }
    if start < sentence.end {
        push(start, sentence.end, link);
    }
}
