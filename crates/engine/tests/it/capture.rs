//! Capture by the background: new lines of chosen projects are stored once, even if others read the
//! file; exclusions and pauses hold for all; files that tear, shrink or are replaced lose nothing.

use crate::hermes_files::Hermes;
use crate::support::{id, target};
use oneiro::{
    Agent, Background, CaptureRequest, CaptureSource, CaptureSwitch, CaptureTrigger, ErrorKind,
    Oneiro, Options, PauseRequest, ProjectChoice, SystemClock,
};
use oneiro_store::capture;
use oneiro_testkit::{TestSpace, on_both_backends};
use rusqlite::config::DbConfig;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Long enough for any machine: a test that waits so long has failed.
const HANG: Duration = Duration::from_secs(120);

/// Rounds of a lane in which it has looked at least once.
const ROUNDS_OF_A_LOOK: u64 = 5;

fn assert_becomes_true(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < HANG, "{what} never came true");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn open(space: &TestSpace) -> Oneiro {
    Oneiro::open(&target(space), Options::default()).unwrap()
}

/// The transcripts of Claude Code in a folder of the test's own.
pub struct Transcripts {
    folder: PathBuf,
}

impl Transcripts {
    pub fn new(space: &TestSpace) -> Transcripts {
        let folder = space.folder().join("projects");
        std::fs::create_dir_all(&folder).unwrap();
        Transcripts { folder }
    }

    pub fn sources(&self) -> Vec<CaptureSource> {
        vec![CaptureSource::Transcripts { agent: Agent::ClaudeCode, folder: self.folder.clone() }]
    }

    pub fn path(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{session}.jsonl"))
    }

    fn write(&self, session: &str, text: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.path(session));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Adds a turn to a session of the project `/srv/SESSION`.
    pub fn add(&self, session: &str, words: &str) {
        self.write(session, &line(session, words));
    }
}

fn line(session: &str, words: &str) -> String {
    let now = oneiro::Clock::now(&SystemClock);
    let line = json!({
        "type": "user", "uuid": format!("{session} {words}"), "sessionId": session,
        "cwd": format!("/srv/{session}"), "timestamp": now,
        "message": {"role": "user", "content": words},
    });
    format!("{line}\n")
}

pub fn choose(oneiro: &Oneiro, folder: Option<&str>, capture: CaptureSwitch) {
    let folder = folder.map(str::to_owned);
    oneiro.capture().choose(vec![ProjectChoice { folder, capture }]).unwrap();
}

/// What is stored of a session.
pub fn stored(oneiro: &Oneiro, session: &str) -> Vec<String> {
    let Ok(shown) = oneiro.sessions().show(&id(session), true) else { return Vec::new() };
    let words = shown.messages.iter().map(|message| message.body["content"].as_str().unwrap());
    words.map(str::to_owned).collect()
}

pub fn assert_captured(oneiro: &Oneiro, session: &str, words: &[&str]) {
    assert_becomes_true(&format!("{session} {words:?}"), || stored(oneiro, session) == words);
}

/// Waits until the lane has looked at the files again.
pub fn wait_for_a_look(background: &Background) {
    let rounds = || {
        let status = background.monitor().status();
        status.into_iter().find(|status| status.lane == "capture").unwrap().rounds
    };
    let before = rounds();
    assert_becomes_true("a look", || rounds() >= before + ROUNDS_OF_A_LOOK);
}

on_both_backends! {
    fn new_lines_of_chosen_projects_are_captured_and_no_others(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        choose(&oneiro, Some("/srv/client"), CaptureSwitch::Off);
        let _background = Background::of(oneiro.clone(), files.sources());
        for (session, words) in [("client", "secret"), ("unasked", "what"), ("garden", "one")] {
            files.add(session, words);
        }
        assert_captured(&oneiro, "garden", &["one"]);
        files.add("garden", "two");
        assert_captured(&oneiro, "garden", &["one", "two"]);
        assert_eq!((stored(&oneiro, "client").len(), stored(&oneiro, "unasked").len()), (0, 0));
        // A choice for all takes in what nobody was asked about, and not what is excluded.
        choose(&oneiro, None, CaptureSwitch::On);
        files.add("client", "secret too");
        files.add("unasked", "now");
        assert_captured(&oneiro, "unasked", &["what", "now"]);
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::Off);
        files.add("garden", "three");
        files.add("unasked", "later");
        assert_captured(&oneiro, "unasked", &["what", "now", "later"]);
        assert_eq!((stored(&oneiro, "garden").len(), stored(&oneiro, "client").len()), (2, 0));
    }

    fn transcripts_last_written_before_the_choice_are_left_alone(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        files.add("garden", "old");
        files.add("garden-too", "old");
        for session in ["garden", "garden-too"] {
            let file = OpenOptions::new().append(true).open(files.path(session)).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            file.set_modified(modified - Duration::from_secs(3_600)).unwrap();
        }
        choose(&oneiro, None, CaptureSwitch::On);
        let _background = Background::of(oneiro.clone(), files.sources());
        files.add("garden", "new");
        // A session that goes on is captured whole.
        assert_captured(&oneiro, "garden", &["old", "new"]);
        assert!(stored(&oneiro, "garden-too").is_empty());
    }

    fn a_half_written_line_waits_for_its_end(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let background = Background::of(oneiro.clone(), files.sources());
        let second = line("garden", "two");
        files.write("garden", &format!("{}{}", line("garden", "one"), &second[..40]));
        assert_captured(&oneiro, "garden", &["one"]);
        wait_for_a_look(&background);
        assert_eq!(stored(&oneiro, "garden"), ["one"]);
        files.write("garden", &second[40..]);
        assert_captured(&oneiro, "garden", &["one", "two"]);
    }

    fn a_file_that_was_truncated_or_replaced_is_read_again(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let _background = Background::of(oneiro.clone(), files.sources());
        let text = |words: &[&str]| words.iter().map(|words| line("garden", words)).collect::<String>();
        files.write("garden", &text(&["one", "two"]));
        assert_captured(&oneiro, "garden", &["one", "two"]);
        std::fs::write(files.path("garden"), text(&["one", "new"])).unwrap();
        assert_captured(&oneiro, "garden", &["one", "two", "new"]);
        std::fs::write(files.path("garden"), text(&["cut"])).unwrap();
        assert_captured(&oneiro, "garden", &["one", "two", "new", "cut"]);
        let other = files.folder.join("other");
        std::fs::write(&other, text(&["one", "two", "three", "four"])).unwrap();
        std::fs::rename(&other, files.path("garden")).unwrap();
        assert_captured(&oneiro, "garden", &["one", "two", "new", "cut", "three", "four"]);
    }

    fn several_processes_and_hooks_at_once_store_each_line_once(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let handles: Vec<Oneiro> = (0..3).map(|_| open(space)).collect();
        let _backgrounds: Vec<Background> =
            handles.iter().map(|oneiro| Background::of(oneiro.clone(), files.sources())).collect();
        let words: Vec<String> = (0..60).map(|number| format!("turn {number}")).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for words in &words {
                    files.add("garden", words);
                    std::thread::yield_now();
                }
            });
            scope.spawn(|| {
                let hook = open(space);
                let path = files.path("garden");
                while stored(&oneiro, "garden").len() < words.len() {
                    let request = CaptureRequest::new(&path, Agent::ClaudeCode);
                    // The file may not be there yet.
                    let _ = hook.capture().transcript(&request, CaptureTrigger::Hook);
                }
            });
        });
        assert_eq!(stored(&oneiro, "garden"), words);
    }

    fn who_holds_the_lease_reads_alone(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let elsewhere = "another-machine.1.1.x";
        let lease = || oneiro.store().write(move |tx| capture::lease(tx, elsewhere, oneiro::Clock::now(&SystemClock)));
        assert!(lease().unwrap());
        files.add("garden", "one");
        let background = Background::of(oneiro.clone(), files.sources());
        wait_for_a_look(&background);
        assert!(stored(&oneiro, "garden").is_empty());
        oneiro.store().write(move |tx| capture::release(tx, elsewhere)).unwrap();
        assert_captured(&oneiro, "garden", &["one"]);
        // It is given back after each reading.
        assert_becomes_true("the lease is free", || lease().unwrap());
    }

    fn a_hook_captures_unless_the_project_is_excluded(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        files.add("garden", "one");
        let path = files.path("garden");
        let hook = || {
            let request = CaptureRequest::new(&path, Agent::ClaudeCode);
            oneiro.capture().transcript(&request, CaptureTrigger::Hook).unwrap().map(|captured| captured.messages)
        };
        assert_eq!(hook(), Some(1));
        choose(&oneiro, Some("/srv"), CaptureSwitch::Excluded);
        files.add("garden", "two");
        assert_eq!(hook(), None);
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        // What was written while it was excluded is left out.
        assert_eq!(hook(), Some(0));
        files.add("garden", "two and a half");
        assert_eq!(hook(), Some(1));
        // Off is for one folder.
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::Off);
        files.add("garden", "three");
        assert_eq!(hook(), None);
        oneiro.capture().choose(vec![ProjectChoice { folder: Some("/srv".into()), capture: CaptureSwitch::Off }]).unwrap();
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        assert_eq!(hook(), Some(0));
        files.add("garden", "four");
        assert_eq!(hook(), Some(1));
        assert_eq!(stored(&oneiro, "garden"), ["one", "two and a half", "four"]);
    }

    fn a_project_is_included_again_by_any_of_its_names(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        let [real, link] = ["real", "link"].map(|name| space.folder().join(name));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let [real, link] = [real, link].map(|path| path.to_string_lossy().into_owned());
        let resolved = std::fs::canonicalize(&real).unwrap().to_string_lossy().into_owned();
        // The agent knows the project by the link, and so did setup of an earlier version.
        let said = line("garden", "one").replace("/srv/garden", &link);
        files.write("garden", &said);
        let now = oneiro::Clock::now(&SystemClock);
        let legacy = link.clone();
        oneiro.store().write(move |tx| capture::choose(tx, Some(&legacy), CaptureSwitch::Off, now)).unwrap();
        for (number, name) in [&link, &real].into_iter().enumerate() {
            let path = files.path("garden");
            let hook = || {
                let request = CaptureRequest::new(&path, Agent::ClaudeCode);
                oneiro.capture().transcript(&request, CaptureTrigger::Hook).unwrap().map(|captured| captured.messages)
            };
            assert_eq!(hook(), None, "{name}");
            choose(&oneiro, Some(name), CaptureSwitch::On);
            let status = oneiro.capture().status().unwrap();
            assert_eq!(status.projects.iter().map(|project| project.folder.as_str()).collect::<Vec<_>>(), [&resolved]);
            assert!(hook().is_some(), "{name}");
            files.write("garden", &line("garden", &format!("turn {number}")).replace("/srv/garden", &link));
            choose(&oneiro, Some(&link), CaptureSwitch::Off);
        }
        let projects = oneiro.capture().projects(&files.sources()).unwrap();
        assert_eq!((projects.len(), projects[0].folder.as_str(), projects[0].capture), (1, resolved.as_str(), Some(CaptureSwitch::Off)));
        choose(&oneiro, Some(&link), CaptureSwitch::On);
        assert_eq!(oneiro.capture().forget_switched_on(Some(std::slice::from_ref(&resolved))).unwrap(), 1);
        assert!(oneiro.capture().status().unwrap().projects.is_empty());
    }

    fn a_file_that_was_replaced_by_one_of_the_same_length_while_nobody_watched_is_read(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        let first = line("garden", "one");
        let second = first.replace("one", "new");
        files.write("garden", &first);
        let background = Background::of(oneiro.clone(), files.sources());
        assert_captured(&oneiro, "garden", &["one"]);
        assert!(background.stop(HANG));
        let other = files.folder.join("other");
        std::fs::write(&other, &second).unwrap();
        std::fs::rename(&other, files.path("garden")).unwrap();
        let _background = Background::of(oneiro.clone(), files.sources());
        assert_captured(&oneiro, "garden", &["one", "new"]);
    }

    fn lines_of_an_excluded_folder_are_left_out_of_a_session_that_began_elsewhere(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        files.add("garden", "one");
        let path = files.path("garden");
        choose(&oneiro, Some("/srv/secret"), CaptureSwitch::Excluded);
        files.add("garden", "two");
        let text = std::fs::read_to_string(&path).unwrap();
        let (first, second) = text.trim_end().split_once('\n').unwrap();
        let second = second.replace("/srv/garden", "/srv/secret/plans");
        assert!(second.contains("/srv/secret/plans"), "{second}");
        std::fs::write(&path, format!("{first}\n{second}\n")).unwrap();
        let request = CaptureRequest::new(&path, Agent::ClaudeCode);
        let captured = oneiro.capture().transcript(&request, CaptureTrigger::Hook).unwrap().unwrap();
        assert_eq!((captured.messages, captured.left_out), (1, 1));
    }

    /// The choice for other projects is not taken for that of a project without a name.
    fn a_transcript_without_a_proper_folder_is_of_no_project(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        for (session, folder) in [("empty", String::new()), ("long", format!("/{}", "x".repeat(5_000))), ("nul", "/a\\u0000".to_owned())] {
            files.write(session, &line(session, "one").replace(&format!("/srv/{session}"), &folder));
        }
        assert!(oneiro.capture().projects(&files.sources()).unwrap().is_empty());
        let unnamed = ProjectChoice { folder: Some(String::new()), capture: CaptureSwitch::On };
        assert_eq!(oneiro.capture().choose(vec![unnamed]).unwrap_err().kind(), ErrorKind::Invalid);
        choose(&oneiro, None, CaptureSwitch::On);
        let _background = Background::of(oneiro.clone(), files.sources());
        assert_captured(&oneiro, "empty", &["one"]);
        assert_captured(&oneiro, "long", &["one"]);
    }

    fn projects_are_listed_with_the_choice_that_holds(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        files.add("garden", "one");
        files.add("work", "one");
        choose(&oneiro, Some("/srv/garden"), CaptureSwitch::On);
        choose(&oneiro, Some("/srv/gone"), CaptureSwitch::Off);
        let projects = oneiro.capture().projects(&files.sources()).unwrap();
        let mut rows: Vec<_> = projects.iter().map(|project| (project.folder.as_str(), project.capture, project.transcripts)).collect();
        rows.sort_by_key(|row| row.0);
        assert_eq!(rows, [
            ("/srv/garden", Some(CaptureSwitch::On), 1),
            ("/srv/gone", Some(CaptureSwitch::Off), 0),
            ("/srv/work", None, 1),
        ]);
        assert_eq!(oneiro.capture().forget_switched_on(None).unwrap(), 1);
        assert_eq!(oneiro.capture().status().unwrap().projects.len(), 1);
    }

    /// Each watcher is new: one waits a while before it imports the same database again.
    fn hermes_is_captured_by_its_file_while_it_is_switched_on(space) {
        let oneiro = open(space);
        let hermes = Hermes::new(space, 30);
        let sources = vec![CaptureSource::Hermes { file: hermes.path.clone() }];
        let watch = || Background::of(oneiro.clone(), sources.clone());
        let folder = hermes.path.to_str().unwrap();
        hermes.session("garden", 1_700_000_000.0);
        hermes.say("garden", "user", "one");
        for choice in [None, Some(CaptureSwitch::Excluded)] {
            if let Some(choice) = choice {
                choose(&oneiro, Some(folder), choice);
            }
            let background = watch();
            wait_for_a_look(&background);
            assert!(stored(&oneiro, "garden").is_empty(), "{choice:?}");
        }
        choose(&oneiro, Some(folder), CaptureSwitch::On);
        // What hermes writes stays in the log beside the file for a while. Its roles are kept.
        let said = "<memory-context>rain</memory-context>\ntwo";
        let db = hermes.db();
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        let before = std::fs::read(&hermes.path).unwrap();
        db.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('garden', 'user', ?1, 1700000001)",
            [said],
        )
        .unwrap();
        drop(db);
        assert_eq!(std::fs::read(&hermes.path).unwrap(), before);
        {
            let _background = watch();
            assert_captured(&oneiro, "garden", &["one", said]);
        }
        oneiro.capture().pause(PauseRequest::default()).unwrap();
        hermes.say("garden", "user", "three");
        {
            let background = watch();
            wait_for_a_look(&background);
            assert_eq!(stored(&oneiro, "garden").len(), 2);
        }
        // Its database is imported as a whole, with what was said during the pause.
        oneiro.capture().resume().unwrap();
        let _background = watch();
        assert_captured(&oneiro, "garden", &["one", said, "three"]);
        let projects = oneiro.capture().projects(&sources).unwrap();
        assert_eq!((projects.len(), &projects[0].agents[..]), (1, &["hermes".to_owned()][..]));
    }

    fn a_database_of_hermes_last_written_before_the_choice_is_not_read(space) {
        let oneiro = open(space);
        let hermes = Hermes::new(space, 30);
        hermes.session("garden", 1_700_000_000.0);
        hermes.say("garden", "user", "old");
        let file = OpenOptions::new().append(true).open(&hermes.path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified - Duration::from_secs(3_600)).unwrap();
        // An import refuses a file that its own process has open.
        drop(file);
        choose(&oneiro, None, CaptureSwitch::On);
        let sources = vec![CaptureSource::Hermes { file: hermes.path.clone() }];
        let background = Background::of(oneiro.clone(), sources);
        wait_for_a_look(&background);
        assert!(stored(&oneiro, "garden").is_empty());
        hermes.say("garden", "user", "new");
        assert_captured(&oneiro, "garden", &["old", "new"]);
    }

    fn secrets_are_found_by_pattern_and_erased_in_one_step(space) {
        let (oneiro, files) = (open(space), Transcripts::new(space));
        let key = "sk-abcdefghijklmnop1234";
        for words in [format!("use {key}"), format!("again {key} and password: hunter2hunter2"), "plain".to_owned()] {
            files.add("garden", &words);
        }
        let path = files.path("garden");
        let request = CaptureRequest::new(&path, Agent::ClaudeCode);
        oneiro.transfer().capture_transcript(&request, &mut |_| {}).unwrap();
        let mut found = Vec::new();
        oneiro.capture().each_secret(&mut |secret| found.push(secret)).unwrap();
        let names: Vec<&str> = found.iter().map(|secret| secret.pattern).collect();
        assert_eq!(names, ["API key (sk-, pk-, rk-)", "API key (sk-, pk-, rk-)", "password or key assignment"]);
        assert!(found.iter().all(|secret| secret.place == "content" && !secret.masked.contains("bcdefgh")));
        let messages = found.iter().map(|secret| secret.message_id).collect();
        let erased = oneiro.capture().erase_messages(&messages).unwrap();
        assert_eq!((erased.messages, erased.proof.found), (2, 0));
        assert_eq!(stored(&oneiro, "garden"), ["plain"]);
        oneiro.capture().each_secret(&mut |secret| panic!("{secret:?}")).unwrap();
    }
}
