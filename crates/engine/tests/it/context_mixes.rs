//! Mixes of messages as agents make them, for the properties of contexts: every kind and size, in
//! any order.

use crate::context_support::{agent, calls, json_message, picture, prose, result, user};
use oneiro::NewMessage;
use proptest::prelude::*;
use serde_json::json;

/// One thing that happens in a session, of one or more messages.
#[derive(Debug, Clone)]
pub enum Said {
    User(usize),
    Agent(usize),
    /// Calls and the sizes of their results; `None` has no result.
    Tools(Vec<Option<usize>>),
    /// A result that nobody asked for, or asked for long ago.
    Late(usize),
    Picture,
    Han(usize),
    Empty,
    Thinking(usize),
    System,
}

pub fn said() -> impl Strategy<Value = Said> {
    let size = prop_oneof![6 => 1..60_usize, 3 => 60..600_usize, 1 => 600..6_000_usize];
    let results = proptest::collection::vec(proptest::option::weighted(0.9, 1..1_500_usize), 1..4);
    prop_oneof![
        5 => size.clone().prop_map(Said::User),
        5 => size.clone().prop_map(Said::Agent),
        3 => results.prop_map(Said::Tools),
        1 => (0..6_usize).prop_map(Said::Late),
        1 => Just(Said::Picture),
        1 => (1..200_usize).prop_map(Said::Han),
        1 => Just(Said::Empty),
        1 => size.prop_map(Said::Thinking),
        1 => Just(Said::System),
    ]
}

/// The messages of what happened; `at` makes each different.
pub fn messages(said: &Said, at: u64) -> Vec<NewMessage> {
    match said {
        Said::User(size) => vec![user(format!("Question {at}. {}", prose(at, *size)))],
        Said::Agent(size) => vec![agent(format!("Answer {at}. {}", prose(at + 1, *size)))],
        Said::Tools(results) => {
            let ids: Vec<String> = (0..results.len()).map(|call| format!("c{call}")).collect();
            let refs: Vec<&str> = ids.iter().map(String::as_str).collect();
            let mut all = vec![calls(&refs, &format!("Calling at {at}."))];
            let answers = results.iter().zip(&ids).filter_map(|(size, id)| Some((id, (*size)?)));
            all.extend(answers.map(|(id, size)| result(id, format!("{at} {}", prose(at, size)))));
            all
        }
        Said::Late(call) => vec![result(&format!("c{call}"), format!("late {at}"))],
        Said::Picture => vec![picture()],
        Said::Han(size) => {
            vec![user(format!("{at} {}", "服务器迁移到新的机房。".repeat(*size / 4 + 1)))]
        }
        Said::Empty => vec![user(""), agent("")],
        Said::Thinking(size) => vec![json_message(
            json!({"role": "assistant", "content": "", "reasoning": prose(at, *size)}),
        )],
        Said::System => vec![json_message(
            json!({"role": "system", "content": format!("The host notes {at}.")}),
        )],
    }
}
