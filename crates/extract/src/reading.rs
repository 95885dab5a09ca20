//! A conversation taken apart: sentences with what they do, clauses with their terms. It owns this
//! form of it; it must not know what anything is worth.

use oneiro_text::{Analyzer, Kind, Token, is_first_person, may_name_date};

use crate::clause::{Joint, bare, cuts};
use crate::connectives::{continues, needs_what_follows, needs_what_precedes};
use crate::cues::{Cue, Cues, cues, is_lead, is_second_person, only_leads, praises};
use crate::dates::Dated;
use crate::machine::{Machine, machine};
use crate::repeated::mark_repeated_lines;
use crate::segment::{self, Shape};
use crate::terms::{Sighting, TermId, Terms};
use crate::utterance::{Utterance, Voice, speakers};

/// Half words that a clause has at least, where its sentence has more.
const SHORTEST: u32 = 6;

/// Half words that say nothing by themselves: "Fixed it."
const FEWEST: u32 = 4;

/// A sentence, and what it does.
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
    pub stands: Stands,
    /// Whether anything in it says what is spoken of.
    tells: bool,
    /// Whether a word in it may be part of a relative date.
    pub names_time: bool,
    terms: (u32, u32),
}

/// What a clause needs to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    Alone,
    /// The clause before it.
    AfterPrevious,
    /// Something that was not said.
    Nowhere,
}

/// When a clause may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// It says what is spoken of.
    Telling,
    /// It does not, but is better than an empty line.
    Filling,
    /// It is a pleasantry, a fragment, or one of many lines that a machine printed: only where
    /// there is nothing else at all.
    Last,
}

/// A conversation taken apart.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub sentences: Vec<Sentence>,
    pub clauses: Vec<Clause>,
    pub terms: Terms,
    lists: Vec<TermId>,
}

/// A piece between two joints of a sentence, with what was met in it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    sentence: u32,
    start: usize,
    end: usize,
    terms: (u32, u32),
    half_words: u32,
    /// Whether anything in it says what is spoken of.
    tells: bool,
    names_time: bool,
    joint: Joint,
    opens_sentence: bool,
}

impl Reading {
    /// Takes utterances apart.
    pub fn of(utterances: &[Utterance<'_>], analyzer: &mut Analyzer) -> Reading {
        let terms = Terms::between(speakers(utterances));
        let mut reading = Reading { terms, ..Reading::default() };
        let mut buffers = Buffers::default();
        for (number, utterance) in utterances.iter().enumerate() {
            reading.add(number as u32, utterance, (analyzer, &mut buffers));
        }
        mark_repeated_lines(&mut reading.sentences, utterances);
        reading
    }

    /// The terms of a clause, each once.
    pub fn terms_of(&self, clause: &Clause) -> &[TermId] {
        self.lists.get(clause.terms.0 as usize..clause.terms.1 as usize).unwrap_or_default()
    }

    /// When a clause may be chosen.
    pub fn tier(&self, clause: &Clause) -> Tier {
        let Some(sentence) = self.sentence_of(clause) else { return Tier::Last };
        let is_noise =
            matches!(sentence.machine, Some(Machine::Log | Machine::Frame | Machine::Listing));
        let is_polite = sentence.cues.has(Cue::SmallTalk)
            || (!clause.tells && sentence.cues.has(Cue::Courtesy))
            || sentence.is_compliment();
        if is_noise || is_polite || clause.stands == Stands::Nowhere {
            Tier::Last
        } else if clause.tells && sentence.machine != Some(Machine::Code) {
            Tier::Telling
        } else {
            Tier::Filling
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
        if utterance.voice != Voice::Terms {
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
        let voice = match utterance.voice {
            Voice::Speaker | Voice::Agent | Voice::Terms => 1.0,
            Voice::Call { .. } | Voice::System | Voice::Tool => 0.3,
        };
        let (terms, lists, sentences) = (&mut self.terms, &mut self.lists, &mut self.sentences);
        let start = lists.len() as u32;
        pieces.iter_mut().for_each(|piece| piece.terms = (start, start));
        let mut at = 0;
        analyzer.tokens(text, |token| {
            let mut sighting =
                Sighting { utterance: number, sentence: u32::MAX - 1, named: false, voice };
            if utterance.voice == Voice::Terms {
                terms.note(&token, sighting);
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
            sighting.sentence = piece.sentence;
            let opens = piece.opens_sentence && piece.half_words == 0;
            sighting.named = !opens
                && text
                    .get(token.start as usize..)
                    .is_some_and(|rest| rest.starts_with(char::is_uppercase));
            piece.meet(&token, opens);
            if let Some(sentence) = sentences.get_mut(piece.sentence as usize) {
                sentence.is_own |= is_first_person(token.norm);
                sentence.is_about_other |= is_second_person(token.norm);
                sentence.praises |= praises(token.norm);
                sentence.dated.meet(token.norm);
            }
            if let Some(id) = terms.note(&token, sighting) {
                piece.tells |= terms.get(id).is_some_and(|term| term.tells());
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
                    tells: open.tells || piece.tells,
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
        let (start, end) = bare(text, (piece.start, piece.end));
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
                stands: self.stands(text, &piece),
                // A word alone is a cry, or a name called; two have lost what they speak of.
                tells: piece.tells && piece.half_words > FEWEST && !is_lead(shown),
                names_time: piece.names_time,
                terms: (from, from + kept as u32),
            });
        }
    }

    fn stands(&self, text: &str, piece: &Piece) -> Stands {
        let Some(sentence) = self.sentences.get(piece.sentence as usize) else {
            return Stands::Nowhere;
        };
        // "Like" and "or" begin names of programs and rows of tables; "who" begins a question.
        let is_prose = sentence.machine.is_none() && sentence.shape != Shape::Code;
        let shown = text.get(piece.start..piece.end).unwrap_or_default();
        let leans = is_prose && !sentence.is_question && needs_what_precedes(shown);
        if piece.joint != Joint::Tied && !leans {
            return Stands::Alone;
        }
        let before = self.clauses.last().and_then(|clause| self.sentence_of(clause));
        match before {
            Some(before) if before.utterance == sentence.utterance => Stands::AfterPrevious,
            _ => Stands::Nowhere,
        }
    }
}

impl Piece {
    /// Whether the next piece is part of the same clause.
    fn takes(&self, text: &str, next: &Piece) -> bool {
        if self.sentence != next.sentence {
            return false;
        }
        let is_short = self.half_words < SHORTEST;
        // A word of address, or one that only leads on, is left behind, unless it is gone on with:
        // "Thanks, for the map".
        let shown = text.get(self.start..self.end).unwrap_or_default();
        if self.opens_sentence && next.joint != Joint::Tied && is_lead(shown) {
            return false;
        }
        let goes_on = || text.get(next.start..next.end).is_some_and(continues);
        if is_short && !self.tells && next.tells && next.joint != Joint::Tied && !goes_on() {
            return false;
        }
        next.joint == Joint::Comma
            || next.half_words < SHORTEST
            || (is_short && self.tells)
            || (self.joint != Joint::Tied && needs_what_follows(shown))
    }

    /// Counts a word; one that only leads into the sentence is left out.
    fn meet(&mut self, token: &Token<'_>, opens: bool) {
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

/// What is used again for each utterance.
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
    let mut joint = Joint::Free;
    let mut push = |start: usize, end: usize, joint: Joint| {
        into.push(Piece {
            sentence: id,
            start,
            end,
            terms: (0, 0),
            half_words: 0,
            tells: false,
            names_time: false,
            joint,
            opens_sentence: start == sentence.start,
        });
    };
    if sentence.shape != Shape::Code && !is_machine {
        cuts(shown, |cut, next| {
            let cut = sentence.start + cut;
            if cut > start {
                push(start, cut, joint);
                (start, joint) = (cut, next);
            }
        });
    }
    if start < sentence.end {
        push(start, sentence.end, joint);
    }
}
