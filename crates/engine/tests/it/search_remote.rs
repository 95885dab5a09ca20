//! Vectors of a model elsewhere: slow, dear, sometimes not there. Searches go on without it, folds
//! come to an end, and nothing erased stays behind in what is kept of it.

use crate::search_support::{
    FewWords, find, fold, newest, number, open, open_as, reach, request, search,
};
use crate::support::{Fixed, assert_sound, begin, id, say, user};
use oneiro::{
    Embedder, EraseTarget, Error, ErrorKind, MessageId, NewMessage, Oneiro, Options, Result, Tier,
    WordModel,
};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What is done when the model is first asked.
type Hook = Box<dyn FnOnce() + Send>;

/// A model that knows what [`FewWords`] knows, in as many dimensions as configured.
struct Server {
    dims: AtomicUsize,
    /// Batches it answers before it is gone.
    answers: AtomicUsize,
    asked: AtomicUsize,
    hook: Mutex<Option<Hook>>,
}

impl Server {
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut small = [0.0; 8];
        FewWords::default().embed(text, &mut small);
        let mut vector = vec![0.001; self.dims.load(Ordering::SeqCst)];
        vector.iter_mut().zip(small).for_each(|(to, value)| *to += value);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / length).collect()
    }

    fn set(&self, dims: usize, answers: usize) {
        self.dims.store(dims, Ordering::SeqCst);
        self.answers.store(answers, Ordering::SeqCst);
        self.asked.store(0, Ordering::SeqCst);
    }

    fn answer(&self) -> Result<()> {
        // A loop without end would ask for ever.
        assert!(self.asked.fetch_add(1, Ordering::SeqCst) < 500, "asked without end");
        let left = self
            .answers
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Error::new(ErrorKind::Unavailable, "nobody answers"))
    }
}

impl Embedder for Server {
    fn id(&self) -> &str {
        "server-1"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
        self.answer()?;
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "a server refuses empty texts");
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.answer()?;
        Ok(self.vector(text))
    }
}

const UNLIMITED_ANSWERS: usize = 1_000_000;

/// A handle that knows the server, and the built-in words as every handle of the program does.
fn open_with_server(space: &TestSpace) -> (Fixed, Arc<Server>) {
    let server = Arc::new(Server {
        dims: AtomicUsize::new(8),
        answers: AtomicUsize::new(UNLIMITED_ANSWERS),
        asked: AtomicUsize::new(0),
        hook: Mutex::new(None),
    });
    let options = Options {
        words: Some(Arc::new(FewWords::default())),
        embedder: Some(Arc::clone(&server) as _),
        ..Options::default()
    };
    let oneiro = open_as(space, options);
    oneiro.settings().set("embedder", Some(json!("openai"))).unwrap();
    (oneiro, server)
}

/// Whether something that has no word of the question is found by what it means.
fn is_meant(oneiro: &Oneiro, message: i64) -> bool {
    let found = search(oneiro, request("python"));
    found.hits.first().is_some_and(|hit| hit.id.0 == message && hit.tier == Tier::Semantic)
}

fn add_fixture(oneiro: &Oneiro) -> i64 {
    begin(oneiro, "s");
    say(oneiro, "s", &["the bread of the baker", "rain tomorrow", "a violin"]);
    let found = say(oneiro, "s", &["a serpent in the grass"])[0];
    say(oneiro, "s", &["good night"]);
    found
}

on_both_backends! {
    fn a_remote_model_finds_messages_by_meaning(space) {
        let (oneiro, _) = open_with_server(space);
        let message = add_fixture(&oneiro);
        // Before its vectors came, the words are enough for what has them.
        assert_eq!(find(&oneiro, "serpent"), [message]);
        fold(&oneiro);
        assert!(is_meant(&oneiro, message));
        assert_eq!(find(&oneiro, "serpent")[0], message);
        let (other, _) = open_with_server(space);
        assert!(is_meant(&other, message));
        assert_sound(&other);
        // Who knows no server searches by words, and says so.
        let without = open(space);
        let found = search(&without, request("serpent"));
        assert_eq!(found.hits[0].id.0, message);
        assert!(found.note.is_some_and(|note| note.contains("words alone")));
    }

    fn a_search_without_the_embedder_finds_words_only(space) {
        let (oneiro, server) = open_with_server(space);
        server.set(8, 0);
        let message = add_fixture(&oneiro);
        let _ = oneiro.index().catch_up(&mut |_, _| {});
        assert_eq!(reach(&oneiro), 5, "what is not embedded is folded all the same");
        for _ in 0..3 {
            let found = search(&oneiro, request("serpent"));
            assert_eq!(found.hits[0].id.0, message);
            assert!(found.note.as_ref().is_some_and(|note| note.contains("words alone")), "{found:?}");
        }
        assert!(server.asked.load(Ordering::SeqCst) < 5, "a server that is gone is left alone");
        assert_sound(&oneiro);
        // When it is back, the next fold brings the vectors.
        server.set(8, UNLIMITED_ANSWERS);
        fold(&oneiro);
        let (fresh, _) = open_with_server(space);
        assert!(is_meant(&fresh, message));
    }

    fn vectors_are_requested_again_when_the_dimensions_change(space) {
        let (oneiro, server) = open_with_server(space);
        let message = add_fixture(&oneiro);
        fold(&oneiro);
        assert!(is_meant(&oneiro, message));
        server.set(16, UNLIMITED_ANSWERS);
        // Vectors of other dimensions do not compare; words still do.
        assert_eq!(find(&oneiro, "serpent")[0], message);
        say(&oneiro, "s", &["something else"]);
        fold(&oneiro);
        assert!(is_meant(&oneiro, message));
        assert_sound(&oneiro);
    }

    fn an_embedder_with_changing_dimensions_is_rejected(space) {
        let (oneiro, server) = open_with_server(space);
        server.set(8, 0);
        let message = add_fixture(&oneiro);
        let _ = oneiro.index().catch_up(&mut |_, _| {});
        say(&oneiro, "s", &["a lamp"]);
        // The newest segment gets its vectors, then the server goes away ...
        server.set(8, 1);
        let _ = oneiro.index().catch_up(&mut |_, _| {});
        assert_eq!(number(&oneiro, "SELECT COUNT(*) FROM segments WHERE embedder = 'server-1/8'"), 1);
        // ... and comes back as another.
        server.set(16, UNLIMITED_ANSWERS);
        fold(&oneiro);
        let (fresh, server) = open_with_server(space);
        server.set(16, UNLIMITED_ANSWERS);
        assert!(is_meant(&fresh, message));
        assert_sound(&fresh);
    }

    fn a_segment_without_words_does_not_block_the_vectors_of_others(space) {
        let (oneiro, server) = open_with_server(space);
        server.set(8, 0);
        let message = add_fixture(&oneiro);
        let _ = oneiro.index().catch_up(&mut |_, _| {});
        let empty = json!({"role": "tool", "content": null});
        oneiro.messages().append(&id("s"), vec![NewMessage::from_json(empty).unwrap()]).unwrap();
        server.set(8, UNLIMITED_ANSWERS);
        fold(&oneiro);
        let (fresh, _) = open_with_server(space);
        assert!(is_meant(&fresh, message));
    }

    fn nothing_waits_for_a_slow_embedder(space) {
        let (oneiro, server) = open_with_server(space);
        let message = add_fixture(&oneiro);
        let other = open(space);
        *server.hook.lock().unwrap() = Some(Box::new(move || {
            // No transaction is open: others write and search.
            say(&other, "s", &["said meanwhile"]);
            assert_eq!(newest(&other, "meanwhile").len(), 1);
        }));
        fold(&oneiro);
        assert_eq!(newest(&oneiro, "meanwhile").len(), 1);
        assert!(is_meant(&oneiro, message));
    }

    fn a_message_erased_during_an_embedder_call_gets_no_vector(space) {
        let (oneiro, server) = open_with_server(space);
        let message = add_fixture(&oneiro);
        let other = open(space);
        *server.hook.lock().unwrap() = Some(Box::new(move || {
            other.erase(&EraseTarget::Message(MessageId(message))).unwrap();
        }));
        fold(&oneiro);
        assert_eq!(number(&oneiro, &format!("SELECT COUNT(*) FROM embeddings WHERE seq = {message}")), 0);
        assert!(!find(&oneiro, "serpent").contains(&message));
        assert!(!is_meant(&oneiro, message));
        fold(&oneiro);
        assert_sound(&oneiro);
        assert!(number(&oneiro, "SELECT COUNT(*) FROM embeddings") >= 4);
    }

    fn erased_and_deleted_messages_have_no_vectors(space) {
        let (oneiro, _) = open_with_server(space);
        let message = add_fixture(&oneiro);
        begin(&oneiro, "t");
        say(&oneiro, "t", &["a snake of another session"]);
        fold(&oneiro);
        assert_eq!(number(&oneiro, "SELECT COUNT(*) FROM embeddings"), 6);
        oneiro.erase(&EraseTarget::Message(MessageId(message))).unwrap();
        assert_eq!(number(&oneiro, "SELECT COUNT(*) FROM embeddings"), 5);
        oneiro.sessions().delete(&id("t")).unwrap();
        assert_eq!(number(&oneiro, "SELECT COUNT(*) FROM embeddings"), 4);
        assert!(!is_meant(&oneiro, message));
        assert_sound(&oneiro);
    }

    fn a_space_may_disable_vectors(space) {
        let (oneiro, server) = open_with_server(space);
        oneiro.settings().set("embedder", Some(json!("none"))).unwrap();
        let message = add_fixture(&oneiro);
        fold(&oneiro);
        assert_eq!(find(&oneiro, "serpent"), [message]);
        assert_eq!(find(&oneiro, "python"), [0; 0]);
        assert_eq!(server.asked.load(Ordering::SeqCst), 0);
        let bad = oneiro.settings().set("embedder", Some(json!("magic"))).unwrap_err();
        assert_eq!(bad.kind(), ErrorKind::Invalid);
        oneiro.messages().append(&id("s"), vec![user("and more")]).unwrap();
        assert_sound(&oneiro);
    }
}
