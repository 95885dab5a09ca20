//! Reads the rules of `assets/rules.txt` and compiles them, once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder, SetMatches};

use crate::finding::Category;
use crate::fold::fold_pattern;

const ASSET: &str = include_str!("../assets/rules.txt");

/// States of an automaton are cached up to this size.
const CACHE_BYTES: usize = 16 << 20;

/// What the compiled patterns of a set may take.
const SET_BYTES: usize = 128 << 20;

/// Between two words: punctuation and emphasis make no difference.
const WORD_GAP: &str = "(?:[ \\n,*_\"'`()]+)";

/// The rules; the tests make sure that they are readable.
pub(crate) static RULES: LazyLock<Option<RuleBook>> = LazyLock::new(|| RuleBook::parse(ASSET).ok());

/// How a rule reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Without case, accents, look-alikes and disguises.
    Folded,
    /// As written, because case matters.
    Raw,
}

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub id: &'static str,
    pub category: Category,
    form: Form,
    /// Whether a quotation of it in a sentence about such texts is a match, too.
    pub even_quoted: bool,
    /// Expanded; any of them may match.
    patterns: Vec<String>,
    /// Expanded; those of one line are for one sentence.
    together: Vec<Vec<String>>,
    /// Texts that the rule has to find.
    pub matches: Vec<&'static str>,
    /// Texts that no rule may find.
    pub passes: Vec<&'static str>,
}

/// The patterns of one rule. A set for all rules would need more states than can be cached.
struct PatternSet {
    /// The rule's number.
    rule: usize,
    set: RegexSet,
    sources: Vec<String>,
    /// Compiled when first needed: most never are.
    compiled: Vec<OnceLock<Option<Regex>>>,
}

impl PatternSet {
    fn new(rule: usize, sources: &[String]) -> Result<PatternSet, String> {
        let set = build_set(sources.iter().map(String::as_str))?;
        let compiled = sources.iter().map(|_| OnceLock::new()).collect();
        Ok(PatternSet { rule, set, sources: sources.to_vec(), compiled })
    }

    fn regex(&self, at: usize) -> Option<&Regex> {
        let (source, compiled) = (self.sources.get(at)?, self.compiled.get(at)?);
        compiled.get_or_init(|| compile(source).ok()).as_ref()
    }
}

/// Patterns of one rule that stand in one sentence, in any order.
pub(crate) struct Conjunction {
    rule: usize,
    /// All patterns, wanted ones first.
    set: RegexSet,
    wanted: Vec<String>,
    /// Compiled when first needed.
    compiled: Vec<OnceLock<Option<Regex>>>,
}

impl Conjunction {
    fn new(rule: usize, patterns: &[String]) -> Result<Conjunction, String> {
        let (unwanted, wanted): (Vec<_>, Vec<_>) =
            patterns.iter().cloned().partition(|pattern| pattern.starts_with(UNWANTED));
        let unwanted = unwanted.iter().filter_map(|pattern| pattern.strip_prefix(UNWANTED));
        let sources = wanted.iter().map(String::as_str).chain(unwanted);
        let compiled = wanted.iter().map(|_| OnceLock::new()).collect();
        Ok(Conjunction { rule, set: build_set(sources)?, wanted, compiled })
    }

    /// Whether every wanted pattern stands somewhere in a text, so that its sentences are worth a
    /// look.
    pub fn may_match(&self, text: &str) -> bool {
        self.has_all_wanted(&self.set.matches(text.as_bytes()))
    }

    /// Where each wanted pattern stands in a sentence, if all of them do and no unwanted one.
    pub fn find(&self, sentence: &str) -> Option<Vec<Range<usize>>> {
        let found = self.set.matches(sentence.as_bytes());
        if !self.has_all_wanted(&found) || found.iter().any(|at| at >= self.wanted.len()) {
            return None;
        }
        let places = self.wanted.iter().zip(&self.compiled).filter_map(|(source, compiled)| {
            let regex = compiled.get_or_init(|| compile(source).ok()).as_ref()?;
            let found = regex.find(sentence.as_bytes())?;
            // Where a clause begins is found with the punctuation before it.
            let text = sentence.get(found.range())?;
            let before = text.len() - text.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
            Some(found.start() + before..found.end())
        });
        Some(places.collect())
    }

    fn has_all_wanted(&self, found: &SetMatches) -> bool {
        (0..self.wanted.len()).all(|at| found.matched(at))
    }
}

/// Before a pattern that must not stand in the sentence.
const UNWANTED: char = '!';

fn build_set<'p>(sources: impl IntoIterator<Item = &'p str>) -> Result<RegexSet, String> {
    RegexSetBuilder::new(sources)
        // Patterns count bytes: classes of Unicode would make the automata many times larger.
        .unicode(false)
        .size_limit(SET_BYTES)
        .dfa_size_limit(CACHE_BYTES)
        .build()
        .map_err(|error| error.to_string())
}

fn compile(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).unicode(false).size_limit(SET_BYTES).build();
    built.map_err(|error| error.to_string())
}

/// All rules, compiled.
pub(crate) struct RuleBook {
    pub rules: Vec<Rule>,
    sets: Vec<PatternSet>,
    conjunctions: Vec<Conjunction>,
    /// Ends where a quotation begins, after words that announce one.
    pub quotation_before: Regex,
    /// The end of a quotation, from its beginning.
    pub quotation_after: Regex,
}

impl RuleBook {
    fn parse(asset: &'static str) -> Result<RuleBook, String> {
        let mut lists: HashMap<&str, String> = HashMap::new();
        let mut rules: Vec<Rule> = Vec::new();
        let (mut section, mut name) = ("", "");
        for line in asset.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(header) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                (section, name) = header.split_once(' ').ok_or_else(|| format!("[{header}]"))?;
                if section == "rule" {
                    rules.push(Rule::new(name)?);
                }
                continue;
            }
            match (section, rules.last_mut()) {
                ("list", _) => {
                    let entry = expand(line, &lists)?;
                    let list = lists.entry(name).or_default();
                    if !list.is_empty() {
                        list.push('|');
                    }
                    list.push_str(&entry);
                }
                ("rule", Some(rule)) => rule.read(line, &lists)?,
                _ => return Err(format!("outside a section: {line}")),
            }
        }
        let quotation = |name: &str| {
            let list = lists.get(name).ok_or_else(|| format!("no list {name}"))?;
            compile(list)
        };
        let sets = rules.iter().enumerate().map(|(at, it)| PatternSet::new(at, &it.patterns));
        let conjunctions = rules.iter().enumerate().flat_map(|(at, rule)| {
            rule.together.iter().map(move |patterns| Conjunction::new(at, patterns))
        });
        Ok(RuleBook {
            sets: sets.collect::<Result<_, _>>()?,
            conjunctions: conjunctions.collect::<Result<_, _>>()?,
            quotation_before: quotation("quotation_before")?,
            quotation_after: quotation("quotation_after")?,
            rules,
        })
    }

    /// The rules of a form that match a text, each with the patterns that do.
    pub fn matching(&self, form: Form, text: &str) -> impl Iterator<Item = (&Rule, &Regex)> {
        let of_form =
            move |set: &&PatternSet| self.rules.get(set.rule).is_some_and(|rule| rule.form == form);
        self.sets.iter().filter(of_form).flat_map(move |set| {
            let found = set.set.matches(text.as_bytes()).into_iter();
            found.filter_map(|at| Some((self.rules.get(set.rule)?, set.regex(at)?)))
        })
    }

    /// The conjunctions whose wanted patterns all stand somewhere in a folded text.
    pub fn conjunctions(&self, text: &str) -> impl Iterator<Item = (&Rule, &Conjunction)> {
        let of_text = move |it: &&Conjunction| it.may_match(text);
        let found = self.conjunctions.iter().filter(of_text);
        found.filter_map(|it| Some((self.rules.get(it.rule)?, it)))
    }
}

impl Rule {
    fn new(header: &'static str) -> Result<Rule, String> {
        let mut words = header.split(' ');
        let id = words.next().unwrap_or_default();
        let category = Category::of_rule(id).ok_or_else(|| format!("no category: {id}"))?;
        let has = |flag: &str| words.clone().any(|word| word == flag);
        let form = if has("raw") { Form::Raw } else { Form::Folded };
        let (patterns, together, matches, passes) = Default::default();
        let even_quoted = has("even_quoted");
        Ok(Rule { id, category, form, even_quoted, patterns, together, matches, passes })
    }

    fn read(&mut self, line: &'static str, lists: &HashMap<&str, String>) -> Result<(), String> {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("no key: {line}"))?;
        match key {
            "find" if self.form == Form::Raw => self.patterns.push(value.to_owned()),
            "find" => self.patterns.push(expand(value, lists)?),
            "together" => {
                let parts = value.split(" && ").map(|part| expand(part, lists));
                self.together.push(parts.collect::<Result<_, _>>()?);
            }
            "match" => self.matches.push(value),
            "pass" => self.passes.push(value),
            _ => return Err(format!("no such key: {line}")),
        }
        Ok(())
    }
}

/// A pattern for folded text as a regular expression: `{name}` is a list, a space any gap between
/// words, and other characters are folded like the text.
fn expand(pattern: &str, lists: &HashMap<&str, String>) -> Result<String, String> {
    let mut out = String::new();
    let mut in_class = false;
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = pattern.get(at + 1..).unwrap_or_default();
        match c {
            '\\' => match chars.next() {
                Some((_, next)) => out.extend(['\\', next]),
                None => return Err(format!("ends with a backslash: {pattern}")),
            },
            '{' if rest.starts_with(|it: char| it.is_ascii_lowercase()) => {
                let name = rest.split('}').next().unwrap_or_default();
                let list = lists.get(name).ok_or_else(|| format!("no list {name}: {pattern}"))?;
                out.push_str(&format!("(?:{list})"));
                chars.by_ref().take(name.len() + 1).for_each(drop);
            }
            ' ' if !in_class => out.push_str(WORD_GAP),
            _ => {
                in_class = match c {
                    '[' => true,
                    ']' => false,
                    _ => in_class,
                };
                out.push_str(&fold_pattern(c.encode_utf8(&mut [0; 4])));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_all;

    #[test]
    fn every_rule_compiles() {
        let book = RuleBook::parse(ASSET).unwrap_or_else(|error| panic!("{error}"));
        for set in &book.sets {
            for at in 0..set.sources.len() {
                assert!(set.regex(at).is_some(), "{:?}", set.sources.get(at));
            }
        }
        for conjunction in &book.conjunctions {
            for source in &conjunction.wanted {
                assert!(compile(source).is_ok(), "{source:?}");
            }
        }
        let mut ids: Vec<&str> = book.rules.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), book.rules.len(), "an id twice");
    }

    #[test]
    fn every_rule_finds_its_examples_and_passes_the_others() {
        let book = RULES.as_ref().unwrap();
        let mut failures = Vec::new();
        for rule in &book.rules {
            let is_empty = rule.patterns.is_empty() && rule.together.is_empty();
            assert!(!is_empty, "{} has no pattern", rule.id);
            assert!(!rule.matches.is_empty(), "{} has no example", rule.id);
            assert!(!rule.passes.is_empty(), "{} has no counter-example", rule.id);
            for text in &rule.matches {
                let text = unescape(text);
                if !scan_all(&text).iter().any(|finding| finding.rule == rule.id) {
                    failures.push(format!("{} misses {text:?}", rule.id));
                }
            }
            for text in &rule.passes {
                let text = unescape(text);
                if let Some(finding) = scan_all(&text).first() {
                    failures.push(format!("{} finds {text:?}", finding.rule));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    /// `\n` and `\u{200b}` in examples; the second keeps made-up keys from looking like real ones.
    fn unescape(text: &str) -> String {
        let text = text.replace("\\n", "\n");
        let mut parts = text.split("\\u{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (code, rest) = part.split_once('}').unwrap();
            out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            out.push_str(rest);
        }
        out
    }

    #[test]
    fn patterns_are_written_for_folded_text() {
        let lists = HashMap::from([("x", "a|b".to_owned())]);
        assert_eq!(expand("{x}é[ é]{2}", &lists).unwrap(), "(?:a|b)e[ e]{2}");
        assert_eq!(expand(r"\bи a", &lists).unwrap(), format!(r"\bи{WORD_GAP}a"));
        assert!(expand("{y}", &lists).is_err());
    }
}
