//! The levels, over any text and any answer.

use super::*;
use crate::LlmResponse;
use oneiro_model::{Error, Result};
use proptest::prelude::*;
use std::sync::Mutex;

/// A model that gives one answer after the other, and then the last again.
struct Answers(Mutex<Vec<Result<String>>>, Mutex<Vec<f32>>);

impl Answers {
    fn new(mut answers: Vec<Result<String>>) -> Answers {
        answers.reverse();
        Answers(Mutex::new(answers), Mutex::default())
    }
}

impl Llm for Answers {
    fn id(&self) -> &str {
        "answers"
    }

    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        self.1.lock().unwrap().push(request.temperature);
        let mut left = self.0.lock().unwrap();
        let answer = left.pop().unwrap_or_else(|| Ok(String::new()));
        answer.map(|text| LlmResponse { text, ..LlmResponse::default() })
    }
}

fn lines(texts: &[&str]) -> Vec<Line> {
    let line = |text: &&str| Line {
        when: "2024-05-01T10:00Z".to_owned(),
        day: Some(Date::constant(2024, 5, 1)),
        speaker: "user".to_owned(),
        text: (*text).to_owned(),
    };
    texts.iter().map(line).collect()
}

fn source<'a>(lines: &'a [Line], target: usize) -> Source<'a> {
    Source { prompt: "leaf", lines, prior: &[], question: None, target, input_tokens: 30_000 }
}

const SAID: &[&str] = &[
    "We decided to move the server to the new rack on Tuesday at 09:30.",
    "Maria signs the invoice of 1200 euros; it lies in plans/invoice_7.md.",
    "The build failed with error E0308 in src/main.rs, line 40.",
    "Who tells the people on the second floor?",
];

const GOOD: &str = "The server moves to the new rack on Tuesday; Maria signs the invoice of 1200 euros; the build failed with E0308 in src/main.rs.";

#[test]
fn each_failure_falls_to_the_next_level() {
    let error = || Err(Error::internal("no"));
    let long = format!("{GOOD} ").repeat(60);
    for (answers, level, calls) in [
        (vec![Ok(GOOD)], SummaryLevel::Model, 1),
        (vec![Ok("  "), Ok(GOOD)], SummaryLevel::Model, 2),
        (vec![Ok(""), Ok(""), Ok(GOOD)], SummaryLevel::Strict, 3),
        (vec![Ok(long.as_str()), Ok(GOOD)], SummaryLevel::Strict, 2),
        (vec![Ok(long.as_str()), Ok(long.as_str())], SummaryLevel::Extract, 2),
        (vec![Ok(""), Ok(""), Ok("")], SummaryLevel::Extract, 3),
        (vec![error()], SummaryLevel::Extract, 1),
        (vec![Ok(""), error()], SummaryLevel::Extract, 2),
    ] {
        let llm =
            Answers::new(answers.into_iter().map(|a: Result<&str>| a.map(str::to_owned)).collect());
        let lines = lines(SAID);
        let done = summarise(&source(&lines, 120), Some((&llm, &Prompts::default())));
        assert_eq!((done.level, llm.1.lock().unwrap().len()), (level, calls), "{done:?}");
        assert_eq!(done.model.is_some(), level != SummaryLevel::Extract);
        assert!(tokens(&done.content) <= 150 && !done.content.is_empty());
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(64))]

    // In any script, of any size, an extract keeps to its target and is text.
    #[test]
    fn an_extract_is_within_its_target(texts in proptest::collection::vec("\\PC{0,400}", 0..12), target in 8..400_usize) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let lines = lines(&texts);
        let done = summarise(&source(&lines, target), None);
        prop_assert_eq!(done.level, SummaryLevel::Extract);
        prop_assert!(tokens(&done.content) <= target, "{} of {}", tokens(&done.content), target);
    }

    #[test]
    fn whatever_a_model_writes_is_bounded_and_clean(answer in "\\PC{0,600}", target in 16..200_usize) {
        let llm = Answers::new(vec![Ok(format!("{answer}\0"))]);
        let lines = lines(SAID);
        let done = summarise(&source(&lines, target), Some((&llm, &Prompts::default())));
        prop_assert!(tokens(&done.content) <= target * 5 / 4 + 1);
        prop_assert!(!done.content.contains('\0'));
    }
}
