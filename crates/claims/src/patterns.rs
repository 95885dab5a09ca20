//! Reads the rules and phrase lists of a language and compiles them.

use std::sync::LazyLock;

use oneiro_model::MemoryKind;
use oneiro_text::sections;
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use rustc_hash::FxHashMap;

use crate::language::Language;
use crate::sentence::fold;
use crate::typed::LinePhrases;

/// States of the automata are cached up to this size, per set.
const CACHE_BYTES: usize = 8 << 20;

/// What the compiled patterns of a set may take.
const SET_BYTES: usize = 64 << 20;

/// Phrases that stand between words of a folded text.
pub(crate) struct Phrases(Option<Regex>);

impl Phrases {
    fn new<'p>(phrases: impl Iterator<Item = &'p str>) -> Phrases {
        Phrases::compile(phrases, "(?:^| )")
    }

    fn at_start<'p>(phrases: impl Iterator<Item = &'p str>) -> Phrases {
        Phrases::compile(phrases, "^")
    }

    fn compile<'p>(phrases: impl Iterator<Item = &'p str>, before: &str) -> Phrases {
        let known = FxHashMap::default();
        let mut all: Vec<String> = phrases.map(|phrase| expand(&fold(phrase), &known)).collect();
        if all.is_empty() {
            return Phrases(None);
        }
        // The first alternative that matches counts: "reminder that" before "reminder".
        all.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        Phrases(regex(&format!("{before}(?:{})(?: |$)", all.join("|"))))
    }

    pub fn matches(&self, folded: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(folded))
    }

    /// Where the first match ends, if there is one.
    pub fn end(&self, folded: &str) -> Option<usize> {
        self.0.as_ref().and_then(|regex| regex.find(folded)).map(|found| found.end())
    }

    /// Where the first match starts.
    pub fn start(&self, folded: &str) -> Option<usize> {
        self.0.as_ref().and_then(|regex| regex.find(folded)).map(|found| found.start())
    }
}

fn regex(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .dfa_size_limit(CACHE_BYTES)
        .build()
        .ok()
        .or_else(|| RegexBuilder::new(pattern).dfa_size_limit(CACHE_BYTES).build().ok())
}

/// One rule.
pub(crate) struct Rule {
    /// With the language: `en.identity.home`.
    pub id: &'static str,
    pub kind: MemoryKind,
    /// Whether its measured precision on a person's own words is at least 95 %.
    pub durable: bool,
    /// Whether what it finds replaces what was said before.
    pub corrects: bool,
    /// Whether it needs a day that is not over.
    pub dated: bool,
    /// Whether conditions belong to it: "when you commit, always run the tests".
    pub conditional: bool,
    /// Whether the statement begins after the first colon.
    pub heading: bool,
    /// Whether its subject is in the message before.
    pub previous: bool,
    /// Whether it reads what an assistant says, and nothing else.
    pub assistant: bool,
    /// Whether the word after the verb is a name.
    pub capital: bool,
    /// Whether words such as today and now belong to it.
    pub momentary: bool,
    exclusions: Phrases,
}

impl Rule {
    fn new(language: Language, header: &'static str) -> Option<Rule> {
        let mut words = header.split(' ').skip(1);
        let name = words.next()?;
        let kind = words.clone().find_map(|word| MemoryKind::parse(word).ok())?;
        let has = |flag: &str| words.clone().any(|word| word == flag);
        // Rules are read once, and live as long as the program.
        let id = Box::leak(format!("{}.{name}", language.code()).into_boxed_str());
        Some(Rule {
            id,
            kind,
            durable: has("durable"),
            corrects: has("corrects"),
            dated: has("dated"),
            conditional: has("conditional"),
            heading: has("heading"),
            previous: has("previous"),
            assistant: has("assistant"),
            capital: has("capital"),
            momentary: has("momentary") || has("dated"),
            exclusions: Phrases(None),
        })
    }

    /// Whether an exclusion of the rule matches.
    pub fn excludes(&self, folded: &str) -> bool {
        self.exclusions.matches(folded)
    }
}

/// The rules and phrases of a language.
pub(crate) struct RuleBook {
    pub rules: Vec<Rule>,
    set: Option<RegexSet>,
    /// The rule of each pattern of the set.
    owners: Vec<usize>,
    /// Words that only lead into a sentence.
    pub leads: Phrases,
    /// Leads that take back what was said.
    pub correcting_leads: Phrases,
    /// Leads that say when, and stay.
    pub time_leads: Phrases,
    /// What may close a sentence and says nothing of its statement: "in case you wonder".
    pub closing: Phrases,
    /// Words at the end that say nothing.
    pub trailing: Phrases,
    pub joins: Phrases,
    pub subordinators: Phrases,
    pub pronouns: Phrases,
    pub possessives: Phrases,
    pub finite: Phrases,
    pub verbs: Phrases,
    pub own_subjects: Phrases,
    pub prepositions: Phrases,
    /// Words that point to what was said before: das, so.
    pub pointers: Phrases,
    /// Speaks of what is made up, from here to the end of the message.
    pub frames: Phrases,
    pub vetoes: Phrases,
    pub hedges: Phrases,
    /// Says that the sentence is not meant.
    pub jokes: Phrases,
    pub conditions: Phrases,
    pub transient: Phrases,
    pub speech: Phrases,
    pub injections: Phrases,
    pub relations: Phrases,
    pub female: Phrases,
    pub male: Phrases,
    pub she: Phrases,
    pub he: Phrases,
    pub inverted: Phrases,
    pub contrasts: Phrases,
    pub addressed: Phrases,
}

impl RuleBook {
    pub fn of(language: Language) -> &'static RuleBook {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::Spanish => &SPANISH,
        }
    }

    fn new(language: Language) -> RuleBook {
        let words = word_lists(language);
        let phrases = |name| Phrases::new(language.list(name));
        let at_start = |name| Phrases::at_start(language.list(name));
        let (mut rules, mut patterns, mut owners) = (Vec::<Rule>::new(), Vec::new(), Vec::new());
        let mut exclusions: Vec<Vec<String>> = Vec::new();
        let mut header = "";
        for (section, line) in sections(language.asset()) {
            if !section.starts_with("rule ") {
                continue;
            }
            if section != header {
                header = section;
                rules.extend(Rule::new(language, section));
                exclusions.push(Vec::new());
            }
            match line.strip_prefix("! ") {
                Some(exclusion) => {
                    exclusions
                        .last_mut()
                        .into_iter()
                        .for_each(|all| all.push(expand(exclusion, &words)));
                }
                None => {
                    patterns.push(format!("^(?:{})(?: |$)", fold(&expand(line, &words))));
                    owners.push(rules.len().saturating_sub(1));
                }
            }
        }
        for (rule, exclusions) in rules.iter_mut().zip(&exclusions) {
            rule.exclusions = Phrases::new(exclusions.iter().map(String::as_str));
        }
        let set = RegexSetBuilder::new(&patterns)
            .size_limit(SET_BYTES)
            .dfa_size_limit(CACHE_BYTES)
            .build()
            .ok();
        RuleBook {
            rules,
            set,
            owners,
            leads: at_start("leads"),
            correcting_leads: at_start("correcting leads"),
            time_leads: at_start("time leads"),
            closing: at_start("closing"),
            trailing: Phrases(regex(&trailing_pattern(language))),
            joins: at_start("joins"),
            subordinators: at_start("subordinators"),
            pronouns: at_start("pronouns"),
            possessives: at_start("possessives"),
            finite: phrases("finite"),
            verbs: at_start("verbs"),
            own_subjects: at_start("own subjects"),
            prepositions: at_start("prepositions"),
            pointers: at_start("pointers"),
            frames: phrases("frames"),
            vetoes: phrases("vetoes"),
            hedges: phrases("hedges"),
            jokes: phrases("jokes"),
            conditions: phrases("conditions"),
            transient: phrases("transient"),
            speech: phrases("speech"),
            injections: phrases("injections"),
            relations: at_start("relations"),
            female: at_start("female"),
            male: at_start("male"),
            she: at_start("she"),
            he: at_start("he"),
            inverted: at_start("inverted"),
            contrasts: phrases("contrasts"),
            addressed: at_start("addressed"),
        }
    }

    /// The first rule in the order of the file that a folded clause matches.
    pub fn find(&self, folded: &str, is_wanted: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        let found = self.set.as_ref()?.matches(folded);
        let rules = found.iter().filter_map(|at| self.rules.get(*self.owners.get(at)?));
        rules.filter(|rule| is_wanted(rule)).find(|rule| !rule.excludes(folded))
    }
}

fn trailing_pattern(language: Language) -> String {
    let all: Vec<String> = language.list("trailing").map(fold).collect();
    format!("(?: ,)?(?: (?:{}))+$", all.join("|"))
}

/// The word lists that patterns name: `{job}`.
fn word_lists(language: Language) -> FxHashMap<&'static str, String> {
    let mut lists: FxHashMap<&str, Vec<String>> = FxHashMap::default();
    for (section, line) in sections(language.asset()) {
        let Some(name) = section.strip_prefix("word ") else { continue };
        let words = line.split(',').map(str::trim).filter(|word| !word.is_empty());
        lists.entry(name).or_default().extend(words.map(fold));
    }
    let known = FxHashMap::default();
    lists.into_iter().map(|(name, words)| (name, expand(&words.join("|"), &known))).collect()
}

/// A pattern with the word lists that it names. `{x}` is a word, `{some}` any number of words,
/// `<a b>` either "a b" or "b a".
fn expand(pattern: &str, words: &FxHashMap<&'static str, String>) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '<']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_swap = from.starts_with('<');
        let close = if is_swap { '>' } else { '}' };
        let Some(end) = from.find(close) else { break };
        let name = from.get(1..end).unwrap_or_default();
        rest = from.get(end + 1..).unwrap_or_default();
        if is_swap {
            let inside = expand(name, words);
            let (one, other) = inside.split_once(' ').unwrap_or((&inside, ""));
            out.push_str(&format!("(?:{one} {other}|{other} {one})"));
            continue;
        }
        match name {
            "x" => out.push_str("(?:[^ ,:;][^ ]*)"),
            "some" => out.push_str("(?:[^ ]+ )*"),
            // Numbers of repetitions are the regex's own.
            _ if name.starts_with(|it: char| it.is_ascii_digit()) => {
                out.push_str(&format!("{{{name}}}"));
            }
            _ => {
                let list = words.get(name).map_or("", String::as_str);
                // Adverbs may be repeated, so each has its space with it.
                let space = if name == "adv" { " " } else { "" };
                out.push_str(&format!("(?:(?:{list}){space})"));
            }
        }
    }
    out.push_str(rest);
    out
}

static ENGLISH: LazyLock<RuleBook> = LazyLock::new(|| RuleBook::new(Language::English));
static GERMAN: LazyLock<RuleBook> = LazyLock::new(|| RuleBook::new(Language::German));
static SPANISH: LazyLock<RuleBook> = LazyLock::new(|| RuleBook::new(Language::Spanish));

/// Phrases of all languages that decide about lines.
pub(crate) static SHARED: LazyLock<LinePhrases> = LazyLock::new(|| {
    let all = |name: &'static str| Language::ALL.into_iter().flat_map(move |it| it.list(name));
    LinePhrases { pasted: Phrases::new(all("pasted")), own: Phrases::new(all("own")) }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_and_phrase_compiles() {
        for language in Language::ALL {
            let book = RuleBook::of(language);
            assert!(book.set.is_some(), "{language:?}");
            let headers: Vec<&str> = sections(language.asset())
                .map(|(section, _)| section)
                .filter(|section| section.starts_with("rule "))
                .fold(Vec::new(), |mut all, section| {
                    if all.last() != Some(&section) {
                        all.push(section);
                    }
                    all
                });
            assert_eq!(book.rules.len(), headers.len(), "{language:?}: a rule without a kind");
            let known = word_lists(language);
            for (section, line) in sections(language.asset()) {
                if section.starts_with("rule ") {
                    for name in line.split('{').skip(1).filter_map(|it| it.split('}').next()) {
                        let is_count = name.starts_with(|it: char| it.is_ascii_digit());
                        let is_known = matches!(name, "x" | "some") || known.contains_key(name);
                        assert!(is_count || is_known, "{language:?} {section}: {{{name}}}");
                    }
                    let pattern = expand(line.trim_start_matches("! "), &known);
                    assert!(regex(&pattern).is_some(), "{language:?} {section}: {line}");
                }
            }
            for phrases in [
                &book.leads,
                &book.correcting_leads,
                &book.time_leads,
                &book.closing,
                &book.trailing,
                &book.joins,
                &book.subordinators,
                &book.pronouns,
                &book.possessives,
                &book.finite,
                &book.verbs,
                &book.own_subjects,
                &book.frames,
                &book.vetoes,
                &book.hedges,
                &book.conditions,
                &book.transient,
                &book.speech,
                &book.injections,
                &book.relations,
                &book.she,
            ] {
                assert!(phrases.0.is_some(), "{language:?} misses a list");
            }
        }
        assert!(SHARED.pasted.0.is_some() && SHARED.own.0.is_some());
    }
}
