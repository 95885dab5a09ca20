//! What a question asks for, read from its words: whose message answers it, and what the answer has
//! in it. The rules are data, in `assets/questions.txt`.

use std::sync::LazyLock;

use crate::fold::normalise;
use crate::lists::sections;
use crate::script::is_cjk;

/// Whose messages a question prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preferred {
    /// The person's: what they said, want, own, prefer or did.
    Person,
    /// The assistant's: what it said or proposed.
    Assistant,
    /// A tool's: what it printed.
    Tool,
    /// The conclusion, whoever wrote it: why, how, what came of it.
    Conclusion,
    /// Nobody's.
    #[default]
    Nobody,
}

impl Preferred {
    /// The name that explanations show.
    pub fn as_str(self) -> &'static str {
        match self {
            Preferred::Person => "person",
            Preferred::Assistant => "assistant",
            Preferred::Tool => "tool",
            Preferred::Conclusion => "conclusion",
            Preferred::Nobody => "nobody",
        }
    }
}

/// Which of several statements a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recency {
    /// The current one.
    Newest,
    /// The first one.
    Oldest,
    /// Any.
    #[default]
    Any,
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Question {
    /// Whether it starts like a question, with or without a question mark.
    pub asks: bool,
    /// Whose messages it prefers.
    pub preferred: Preferred,
    /// Whether it asks for a number, a version or an id.
    pub number: bool,
    /// Whether it asks for a version.
    pub version: bool,
    /// Whether it asks for a time.
    pub time: bool,
    /// Whether it asks for a reason.
    pub reason: bool,
    /// Whether it asks for a decision.
    pub decision: bool,
    /// Whether it asks for a person or a name.
    pub who: bool,
    /// Which of several statements it asks for.
    pub recency: Recency,
}

impl Question {
    /// Whether it asks for a value of which there may be a newer one.
    pub fn asks_value(&self) -> bool {
        self.number || self.version || self.time || self.recency == Recency::Newest
    }

    /// Reads a question in any of the supported languages.
    pub fn read(text: &str) -> Question {
        let mut words = Words::of(text);
        RULES.courtesy.iter().for_each(|pattern| words.remove(pattern));
        let first = |patterns: &[Pattern]| patterns.iter().filter_map(|one| words.rank(one)).min();
        let has = |patterns: &[Pattern]| first(patterns).is_some();
        let speakers = [
            (first(&RULES.assistant), Preferred::Assistant),
            (first(&RULES.person), Preferred::Person),
            (first(&RULES.tool), Preferred::Tool),
        ];
        let speaker =
            speakers.into_iter().filter_map(|(at, who)| Some((at?, who))).min_by_key(|one| one.0);
        let preferred = match (speaker, has(&RULES.conclusion)) {
            // "Why did I leave" may be answered by what I said, or by what came out.
            (Some((_, Preferred::Person)), true) => Preferred::Nobody,
            (Some((_, who)), _) => who,
            (None, true) => Preferred::Conclusion,
            (None, false) => Preferred::Nobody,
        };
        let recency = match (has(&RULES.newest), has(&RULES.oldest)) {
            (true, false) => Recency::Newest,
            (false, true) => Recency::Oldest,
            _ => Recency::Any,
        };
        Question {
            asks: has(&RULES.asks),
            preferred,
            number: has(&RULES.number),
            version: has(&RULES.version),
            time: has(&RULES.time),
            reason: has(&RULES.reason),
            decision: has(&RULES.decision),
            who: has(&RULES.who),
            recency,
        }
    }
}

/// The words of a question; of Chinese and Japanese, runs of characters.
struct Words(Vec<String>);

impl Words {
    fn of(text: &str) -> Words {
        let norm = normalise(text);
        let mut words: Vec<String> = Vec::new();
        let mut last = None;
        for letter in norm.chars() {
            let kind = (letter.is_alphanumeric()).then(|| is_cjk(letter));
            match (kind, words.last_mut()) {
                (None, _) => {}
                (Some(_), Some(word)) if last == Some(kind) => word.push(letter),
                (Some(_), _) => words.push(letter.to_string()),
            }
            last = Some(kind);
        }
        Words(words)
    }

    /// Where a pattern first matches.
    fn find(&self, pattern: &Pattern) -> Option<usize> {
        let mut starts = if pattern.is_at_start { 0..1 } else { 0..self.0.len() };
        starts.find(|start| self.match_at(*start, &pattern.steps).is_some())
    }

    /// The place of a pattern among others. A single word says less than a phrase, so that "what did
    /// you recommend for my trip" is about you.
    fn rank(&self, pattern: &Pattern) -> Option<usize> {
        let start = self.find(pattern)?;
        Some(if pattern.steps.len() == 1 { self.0.len() } else { start })
    }

    /// The word after the match of all steps at a place.
    fn match_at(&self, at: usize, steps: &[Step]) -> Option<usize> {
        let Some((step, rest)) = steps.split_first() else { return Some(at) };
        match step {
            Step::Any => (0..=3).find_map(|skipped| self.match_at(at + skipped, rest)),
            Step::One(words) => {
                let here = self.0.get(at)?;
                let is_here = words.iter().any(|word| {
                    if word.chars().next().is_some_and(is_cjk) {
                        here.contains(word.as_str())
                    } else {
                        here == word
                    }
                });
                if is_here { self.match_at(at + 1, rest) } else { None }
            }
        }
    }

    fn remove(&mut self, pattern: &Pattern) {
        while let Some(start) = self.find(pattern) {
            let Some(end) = self.match_at(start, &pattern.steps).filter(|end| *end > start) else {
                return;
            };
            // Of a run of characters only the pattern is taken out.
            if let [Step::One(pieces)] = pattern.steps.as_slice()
                && let Some(run) = self.0.get_mut(start)
                && let Some(piece) = pieces.iter().find(|piece| run.contains(piece.as_str()))
                && piece.chars().next().is_some_and(is_cjk)
            {
                *run = run.replace(piece.as_str(), "");
            } else {
                self.0.drain(start..end);
            }
        }
    }
}

/// A line of the rules.
struct Pattern {
    is_at_start: bool,
    steps: Vec<Step>,
}

enum Step {
    /// One of these words.
    One(Vec<String>),
    /// Up to three words.
    Any,
}

impl Pattern {
    fn parse(line: &str) -> Pattern {
        let (is_at_start, line) = match line.strip_prefix('^') {
            Some(line) => (true, line),
            None => (false, line),
        };
        let step = |part: &str| match part {
            "*" => Step::Any,
            words => Step::One(words.split('|').map(normalise).collect()),
        };
        Pattern { is_at_start, steps: line.split_whitespace().map(step).collect() }
    }
}

/// The rules by section.
struct Rules {
    courtesy: Vec<Pattern>,
    asks: Vec<Pattern>,
    person: Vec<Pattern>,
    assistant: Vec<Pattern>,
    tool: Vec<Pattern>,
    conclusion: Vec<Pattern>,
    number: Vec<Pattern>,
    version: Vec<Pattern>,
    time: Vec<Pattern>,
    reason: Vec<Pattern>,
    decision: Vec<Pattern>,
    who: Vec<Pattern>,
    newest: Vec<Pattern>,
    oldest: Vec<Pattern>,
}

const QUESTIONS: &str = include_str!("../assets/questions.txt");

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let of = |wanted: &str| {
        let lines = sections(QUESTIONS).filter(|(section, _)| *section == wanted);
        lines.map(|(_, line)| Pattern::parse(line)).collect()
    };
    Rules {
        courtesy: of("courtesy"),
        asks: of("asks"),
        person: of("person"),
        assistant: of("assistant"),
        tool: of("tool"),
        conclusion: of("conclusion"),
        number: of("number"),
        version: of("version"),
        time: of("time"),
        reason: of("reason"),
        decision: of("decision"),
        who: of("who"),
        newest: of("newest"),
        oldest: of("oldest"),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_speaker_follows_from_the_question() {
        use Preferred::{Assistant, Conclusion, Nobody, Person, Tool};
        for (question, preferred) in [
            ("What did I say about the budget?", Person),
            ("How long have I been playing the guitar?", Person),
            ("What was the name of the restaurant I booked?", Person),
            ("How many bikes do I own?", Person),
            ("my sister's birthday", Person),
            ("Can you remind me what degree I graduated with?", Person),
            ("What should I serve for dinner with my homegrown ingredients?", Person),
            ("What does the user prefer for commit messages?", Person),
            ("What did you recommend for my trip to Rome?", Assistant),
            ("I remember you told me about a library, which one was it?", Assistant),
            ("Which three options did the assistant propose?", Assistant),
            ("What did the command print?", Tool),
            ("Why did the deploy fail?", Conclusion),
            ("What caused the outage?", Conclusion),
            ("Which version fixed it?", Conclusion),
            ("How was the flaky test fixed?", Conclusion),
            ("What did we decide about the cache?", Conclusion),
            ("Can you tell me what came out of the survey?", Conclusion),
            ("staging database port", Nobody),
            ("Which port does the staging database use?", Nobody),
            ("Tell me about the library", Nobody),
            ("Why did I leave?", Nobody),
            ("Was habe ich über das Budget gesagt?", Person),
            ("Wo wohnt meine Schwester?", Person),
            ("Was hast du mir für Rom empfohlen?", Assistant),
            ("Warum ist das Deployment fehlgeschlagen?", Conclusion),
            ("Woran lag es?", Conclusion),
            ("Sag mir den Port der Datenbank", Nobody),
            ("¿Qué dije sobre el presupuesto?", Person),
            ("¿Cuál es mi dirección?", Person),
            ("¿Qué me recomendaste?", Assistant),
            ("¿Por qué falló el despliegue?", Conclusion),
            ("¿Qué puerto usa la base de datos?", Nobody),
            ("Qual é o meu endereço?", Person),
            ("O que você sugeriu para Roma?", Assistant),
            ("Por que o deploy falhou?", Conclusion),
            ("Qual porta o banco usa?", Nobody),
            ("Qu'est-ce que j'ai acheté ?", Person),
            ("Qu'est-ce que tu m'as conseillé ?", Assistant),
            ("Pourquoi le build a-t-il échoué ?", Conclusion),
            ("Quel port utilise la base ?", Nobody),
            ("Cosa ho comprato?", Person),
            ("Che cosa ho comprato al mercato?", Person),
            ("Dove abita mia sorella?", Person),
            ("Cosa mi hai consigliato?", Assistant),
            ("Perché la build è fallita?", Conclusion),
            ("我说过预算是多少？", Person),
            ("我的猫叫什么名字？", Person),
            ("你推荐了哪家餐厅？", Assistant),
            ("部署为什么失败了？", Conclusion),
            ("数据库的端口是多少？", Nobody),
            ("告诉我数据库的端口", Nobody),
            ("私が買った自転車は？", Person),
            ("アシスタントは何を提案しましたか", Assistant),
            ("デプロイはなぜ失敗しましたか", Conclusion),
            ("データベースのポートは？", Nobody),
        ] {
            assert_eq!(Question::read(question).preferred, preferred, "{question}");
        }
    }

    #[test]
    fn a_question_is_known_by_its_start_without_a_question_mark() {
        for question in [
            "where do I live",
            "Where do I live?",
            "whats my name",
            "tell me where I live",
            "when is my flight",
            "do I like tea",
            "is the door blue",
            "can we ship it",
            "wo wohne ich",
            "Wie heißt meine Schwester",
            "donde vivo",
            "¿Qué té me gusta?",
            "por que falló",
            "onde eu moro",
            "où est-ce que j'habite",
            "dove abito",
            "我住在哪里",
            "私はどこに住んでいますか",
        ] {
            assert!(Question::read(question).asks, "{question}");
        }
        for text in [
            "staging database port",
            "when the build fails, run it again",
            "I live in Porto",
            "do the dishes",
            "book a table",
            "ich wohne in Bern",
            "我住在波尔图",
        ] {
            assert!(!Question::read(text).asks, "{text}");
        }
    }

    #[test]
    fn the_kind_of_answer_follows_from_the_question() {
        let kinds = |question: &str| {
            let Question { number, time, reason, decision, .. } = Question::read(question);
            [number, time, reason, decision]
        };
        for (question, expected) in [
            ("How many bikes do I own?", [true, false, false, false]),
            ("Which version fixed it?", [true, false, false, false]),
            ("When does the train leave?", [false, true, false, false]),
            ("Why did it fail?", [false, false, true, false]),
            ("What did we decide about the cache?", [false, false, false, true]),
            ("Where is the key?", [false; 4]),
            ("Wie viele Server haben wir?", [true, false, false, false]),
            ("Wann fährt der Zug?", [false, true, false, false]),
            ("¿Cuánto costó?", [true, false, false, false]),
            ("¿Cuándo sale el tren?", [false, true, false, false]),
            ("Quanto custou?", [true, false, false, false]),
            ("Combien ça coûte ?", [true, false, false, false]),
            ("Quando parte il treno?", [false, true, false, false]),
            ("多少钱？", [true, false, false, false]),
            ("什么时候出发？", [false, true, false, false]),
            ("なぜ失敗しましたか", [false, false, true, false]),
            ("いつ出発しますか", [false, true, false, false]),
        ] {
            assert_eq!(kinds(question), expected, "{question}");
        }
    }

    #[test]
    fn a_value_is_asked_for_by_number_time_version_or_now() {
        for question in [
            "What memory limit do the pods have?",
            "How warm is the flow?",
            "When is the handover?",
            "Which plumber is it now?",
            "Wie warm ist das Wasser?",
            "Qual o tamanho máximo de uma foto?",
            "履歴は何か月残す？",
        ] {
            assert!(Question::read(question).asks_value(), "{question}");
        }
        for question in ["Why did it fail?", "Which plumber did we choose?", "Wo steht der Wagen?"]
        {
            assert!(!Question::read(question).asks_value(), "{question}");
        }
    }

    #[test]
    fn now_asks_for_the_newest_and_first_for_the_oldest() {
        for (question, recency) in [
            ("What is the rate now?", Recency::Newest),
            ("the current rate", Recency::Newest),
            ("What was the rate at first?", Recency::Oldest),
            ("What is the rate?", Recency::Any),
            ("Wie hoch ist der Satz aktuell?", Recency::Newest),
            ("现在的汇率是多少", Recency::Newest),
        ] {
            assert_eq!(Question::read(question).recency, recency, "{question}");
        }
    }

    #[test]
    fn every_section_of_the_rules_is_read() {
        for (section, line) in sections(QUESTIONS) {
            let known = [
                "courtesy",
                "asks",
                "person",
                "assistant",
                "tool",
                "conclusion",
                "number",
                "version",
                "time",
                "reason",
                "decision",
                "who",
                "newest",
                "oldest",
            ];
            assert!(known.contains(&section), "{line} in [{section}]");
        }
    }
}
