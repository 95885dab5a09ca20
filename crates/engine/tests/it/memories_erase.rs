//! What an erasure leaves of memories: nothing.

use crate::memories::{about, agent, kind_of, operation, person, remember, show, statement, undo};
use crate::support::{Fixed, begin, open, say};
use oneiro::{
    EraseTarget, ErrorKind, ListOperations, MemoryPatch, NewMemory, SearchRequest, ShowMemory,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

pub fn found_raw(space: &TestSpace, texts: &[&str]) -> Vec<String> {
    let log = std::path::PathBuf::from(format!("{}-wal", space.file().display()));
    let mut raw = std::fs::read(space.file()).unwrap();
    raw.extend(std::fs::read(log).unwrap_or_default());
    let is_there = |text: &&&str| raw.windows(text.len()).any(|part| part == text.as_bytes());
    texts.iter().filter(is_there).map(|text| (*text).to_owned()).collect()
}

fn assert_nothing_left(oneiro: &Fixed, space: &TestSpace, texts: &[&str]) {
    let dump = oneiro
        .operations()
        .list(&ListOperations { limit: 1_000, ..ListOperations::default() })
        .unwrap();
    let dump = format!("{dump:?}");
    assert!(texts.iter().all(|text| !dump.contains(text)), "{dump}");
    if space.backend == Backend::Sqlite {
        assert_eq!(found_raw(space, texts), Vec::<String>::new());
    }
}

on_both_backends! {
    fn an_erased_prompt_is_in_no_signal(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        remember(&ann, about("Ann", "I keep my bicycle in the cellar"));
        begin(&oneiro, "chat");
        let said = say(&oneiro, "chat", &["where is the bicycle of Ann, zebraquux?"]);
        let for_session = Some(crate::support::id("chat"));
        let request = SearchRequest { for_session, ..SearchRequest::recall("bicycle of Ann") };
        oneiro.search().run(&request).unwrap();
        assert!(crate::support::export(&oneiro).contains("zebraquux"));
        let erased = ann.erase(&EraseTarget::Message(oneiro::MessageId(said[0]))).unwrap();
        assert_eq!((erased.proof.found, erased.proof.said_elsewhere), (0, 0), "{erased:?}");
        assert!(!crate::support::export(&oneiro).contains("zebraquux"));
        assert_nothing_left(&oneiro, space, &["zebraquux"]);
    }

    fn an_erased_memory_is_nowhere_in_the_files(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let memory = remember(&ann, about("Zarathustra", "The vault code is nineteen eighty-four")).memory;
        let patch = MemoryPatch { content: Some("The vault code is twenty twenty-six".into()), ..MemoryPatch::default() };
        let edited = ann.memories().edit(memory.id.as_str(), patch).unwrap();
        let target = EraseTarget::Memory(memory.id.clone());
        assert_eq!(kind_of(agent(&oneiro).erase(&target)), ErrorKind::Forbidden);
        let erased = ann.erase(&target).unwrap();
        assert_eq!(erased.proof.found, 0);
        assert!(erased.proof.pieces > 0);
        assert_nothing_left(&oneiro, space, &["vault code", "Zarathustra", "twenty twenty-six"]);
        let error = undo(&ann, &operation(&edited)).unwrap_err();
        assert!(error.kind() == ErrorKind::Conflict && error.message().contains("erased"), "{error}");
        assert_eq!(kind_of(ann.erase(&target)), ErrorKind::NotFound);
        assert_eq!(oneiro.memories().history(memory.id.as_str()).unwrap().items.len(), 2);
    }

    fn erasing_a_message_erases_what_machines_made_of_it_alone(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        begin(&oneiro, "chat");
        let said = say(&oneiro, "chat", &["the treasure lies under the old oak", "near the treasure runs a brook"]);
        let quoted = |content: &str, quote: &str| NewMemory { quote: Some(quote.into()), ..statement(content) };
        let alone = remember(&bot, quoted("Gold is buried at an oak", "treasure lies under the old oak")).memory;
        let both = remember(&bot, quoted("There is a treasure", "treasure lies under the old oak")).memory;
        remember(&bot, quoted("There is a treasure", "near the treasure runs a brook"));
        let owned = remember(&ann, quoted("I hid something", "treasure lies under the old oak")).memory;
        ann.erase(&EraseTarget::Message(oneiro::MessageId(said[0]))).unwrap();
        assert_eq!(kind_of(oneiro.memories().show(alone.id.as_str(), &ShowMemory::default())), ErrorKind::NotFound);
        assert_eq!(show(&oneiro, both.id.as_str()).citations.len(), 1);
        assert!(show(&oneiro, owned.id.as_str()).citations.is_empty());
        assert_nothing_left(&oneiro, space, &["under the old oak", "Gold is buried"]);
    }
}
