//! What a caller can do about an error: a code with parameters, which each surface renders in its
//! own words. A command belongs in an answer on the command line and nowhere else.

use std::borrow::Cow;

/// Where an error is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The `oneiro` command.
    CommandLine,
    /// The HTTP API and the page.
    Http,
    /// The tools for agents.
    Tools,
    /// The Rust and Python libraries.
    Library,
}

impl Surface {
    /// Every surface.
    pub const ALL: [Surface; 4] =
        [Surface::CommandLine, Surface::Http, Surface::Tools, Surface::Library];
}

/// Declares the remedies: a code, its parameters, and the words of each surface.
macro_rules! remedies {
    ($($(#[$doc:meta])* $code:ident $(($($field:ident),+))? {
        cli: $cli:literal, http: $http:literal, tools: $tools:literal, library: $library:literal $(,)?
    })*) => {
        /// What to do about an error.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Remedy {
            /// Words that hold on every surface.
            Text(Cow<'static, str>),
            $($(#[$doc])* $code $({ $(#[allow(missing_docs)] $field: String),+ })?,)*
        }

        impl Remedy {
            /// The words of a surface.
            #[allow(unused_variables, reason = "not every surface names every parameter")]
            pub fn render(&self, surface: Surface) -> Cow<'_, str> {
                match self {
                    Remedy::Text(text) => Cow::Borrowed(text),
                    $(Remedy::$code $({ $($field),+ })? => Cow::Owned(match surface {
                        Surface::CommandLine => format!($cli),
                        Surface::Http => format!($http),
                        Surface::Tools => format!($tools),
                        Surface::Library => format!($library),
                    }),)*
                }
            }

            /// One of each code, for tests and the reference.
            pub fn examples() -> Vec<Remedy> {
                vec![$(Remedy::$code $({ $($field: stringify!($field).to_uppercase()),+ })?,)*]
            }
        }
    };
}

remedies! {
    /// The session must exist first.
    CreateSession(id) {
        cli: "create it: oneiro session new --id {id:?}, or append with --create",
        http: "create it with POST /v1/sessions, or append with ?create=true",
        tools: "session_search() lists recently active sessions",
        library: "create it with create_session, or append with create=True",
    }
    /// See which sessions there are.
    ListSessions {
        cli: "`oneiro session list --all` lists all sessions",
        http: "GET /v1/sessions?all=true lists all sessions",
        tools: "session_search() lists recently active sessions, session_search(query=..) finds \
                messages with their ids",
        library: "list_sessions lists all sessions",
    }
    /// See which messages there are.
    ListMessages {
        cli: "`oneiro session show SESSION` lists all messages; SESSION#3 is the third of a \
              session",
        http: "GET /v1/sessions/SESSION/messages lists all messages; SESSION#3 is the third of \
               a session",
        tools: "session_search(query=..) finds messages with their ids; give one with the session \
                that it named, or to session_expand with anywhere=true",
        library: "messages lists all messages; SESSION#3 is the third of a session",
    }
    /// Show again what was rewound.
    RestoreRewound {
        cli: "`oneiro session restore SESSION` brings back what was rewound",
        http: "POST /v1/sessions/SESSION/restore brings back what was rewound",
        tools: "it was taken back by the user; use what is still shown",
        library: "restore brings back what was rewound",
    }
    /// See where a rewind may go.
    ListRewindPoints {
        cli: "`oneiro session rewind SESSION` without a message shows the choices",
        http: "name a message with the role user; GET /v1/sessions/SESSION/messages shows them",
        tools: "name a message of the user",
        library: "name a message with the role user; rewind_points shows them",
    }
    /// The summary is gone, or out of reach.
    ListSummaries {
        cli: "a summary goes when the messages under it are rewound or removed; `oneiro session \
              tree SESSION` shows those there are",
        http: "a summary goes when the messages under it are rewound or removed; GET \
               /v1/sessions/SESSION/summaries lists those there are",
        tools: "give an id that memory_context, session_search or session_expand(grep=..) answered, \
                with the session that it named; anywhere=true looks beyond that session's lineage",
        library: "a summary goes when the messages under it are rewound or removed; summaries lists \
                  those there are",
    }
    /// The message is not there, or not in reach.
    OutOfReach {
        cli: "only a session's own lineage is in reach, unless more is asked for",
        http: "only a session's own lineage is in reach, unless more is asked for",
        tools: "give an id that memory_context, session_search or session_expand(grep=..) answered, \
                with the session that it named; anywhere=true looks beyond that session's lineage",
        library: "only a session's own lineage is in reach, unless more is asked for",
    }
    /// The space does not allow to read beyond a lineage.
    AllowOtherSessions {
        cli: "name the session, or `oneiro config set other_sessions allow`",
        http: "name the session; the setting other_sessions of the space does not allow more",
        tools: "leave anywhere out, and give session",
        library: "name the session, or set the setting other_sessions to allow",
    }
    /// The id matches a pattern of ids that are not kept.
    ChangePatterns {
        cli: "choose another id, or change the patterns with `oneiro config set`",
        http: "choose another id; the settings of the space ignore this one",
        tools: "choose another id; the settings of the space ignore this one",
        library: "choose another id, or change the ignore patterns in the settings",
    }
    /// A token with a larger role is needed.
    CreateToken(role) {
        cli: "create one with `oneiro token create --role {role}`",
        http: "send a token with the role {role}; an admin creates one with POST /v1/tokens",
        tools: "the token of this connection cannot do that; it needs the role {role}",
        library: "use a token with the role {role}",
    }
    /// A valid token is needed.
    SendToken {
        cli: "send `Authorization: Bearer oneiro_...` with a token of `oneiro token create`; it may \
              have expired or been revoked",
        http: "send `Authorization: Bearer oneiro_...` with a token of this space; it may have \
               expired or been revoked",
        tools: "the token of this connection is not valid; it may have expired or been revoked",
        library: "use another token; this one may have expired or been revoked",
    }
    /// Listening beyond loopback needs a token.
    TokenBeforeListening(space) {
        cli: "create a token first: oneiro token create --space {space} --role write; or listen on \
              127.0.0.1",
        http: "create a token for the space {space} first, or listen on 127.0.0.1",
        tools: "create a token for the space {space} first, or listen on 127.0.0.1",
        library: "create a token for the space {space} first, or listen on 127.0.0.1",
    }
    /// The port is taken.
    OtherPort {
        cli: "another server may be running; choose another port with --listen",
        http: "another server may be running; choose another port",
        tools: "another server may be running; choose another port",
        library: "another server may be running; choose another port",
    }
    /// See which tokens a space has.
    ListTokens(space) {
        cli: "`oneiro token list --space {space}` shows those it has",
        http: "GET /v1/tokens shows those it has",
        tools: "the space {space} has other tokens",
        library: "list_tokens shows those it has",
    }
    /// The index is rebuilt from the rows.
    RebuildIndex {
        cli: "`oneiro doctor --fix` rebuilds it from the messages",
        http: "it is rebuilt from the messages in the background; try again later",
        tools: "it is rebuilt from the messages in the background; try again later",
        library: "it is rebuilt from the messages in the background; try again later",
    }
    /// A table is missing.
    RestoreTable {
        cli: "a table of the text index is made again by `oneiro doctor --fix`; for any other, \
              restore the newest backup",
        http: "a table of the text index is made again in the background; for any other, restore \
               the newest backup",
        tools: "have the store checked and the newest backup restored",
        library: "a table of the text index is made again in the background; for any other, \
                  restore the newest backup",
    }
    /// The store is damaged.
    RestoreBackup {
        cli: "do not write to it; restore the newest backup (`oneiro backup` makes them)",
        http: "do not write to it; restore the newest backup",
        tools: "do not write to it; have the newest backup restored",
        library: "do not write to it; restore the newest backup",
    }
    /// The file is not a store.
    OtherStore {
        cli: "give another --store; this file was not touched",
        http: "start the server with another store; this file was not touched",
        tools: "start the server with another store; this file was not touched",
        library: "open another path; this file was not touched",
    }
    /// The file is not a database.
    OtherStoreOrBackup {
        cli: "give another --store, or restore a backup; this file was not touched",
        http: "start the server with another store, or restore a backup; this file was not touched",
        tools: "start the server with another store, or restore a backup; this file was not touched",
        library: "open another path, or restore a backup; this file was not touched",
    }
    /// The store does not exist.
    CheckStore {
        cli: "check --store; `oneiro setup`, `oneiro import`, `oneiro demo` and `oneiro session new` \
              create a store",
        http: "check which store the server was started with",
        tools: "check which store the server was started with",
        library: "check the path, or open it with create=True",
    }
    /// The space does not exist; others do.
    CheckSpace(suggestion) {
        cli: "{suggestion}`oneiro space list` lists the spaces; `oneiro session new`, \
              `oneiro import` and `oneiro append --create` create one",
        http: "{suggestion}GET /v1/spaces lists the spaces; POST /v1/sessions creates one",
        tools: "{suggestion}check which space the server was started with",
        library: "{suggestion}open with create=True creates a space",
    }
    /// Removing something needs a confirmation, and there is nobody to ask.
    Confirm {
        cli: "add --yes to confirm without a terminal",
        http: "confirm the removal",
        tools: "ask the user to do this",
        library: "confirm the removal",
    }
    /// A single file has one space.
    SingleSpace {
        cli: "leave --space out, or give a folder as --store",
        http: "leave the header Oneiro-Space out",
        tools: "leave the space out",
        library: "leave space out, or give a folder as the store",
    }
    /// The rest of an erasure is a job.
    RunJobs {
        cli: "end long reads of this store, then run `oneiro jobs run`",
        http: "end long reads of this store, then call POST /v1/jobs/run",
        tools: "it is tried again in the background",
        library: "end long reads of this store, then call run_jobs",
    }
    /// An id that is a session and a message.
    SayWhich {
        cli: "say which: --session or --message",
        http: "say which: {{\"session\": ...}} or {{\"message\": ...}}",
        tools: "say which: a session or a message",
        library: "say which: a session or a message",
    }
    /// A file of hermes.
    ImportHermes(place) {
        cli: "import it with `oneiro import hermes {place}`; this file was not touched",
        http: "import it on the server's machine; this file was not touched",
        tools: "have it imported; this file was not touched",
        library: "import it with import_hermes; this file was not touched",
    }
    /// A store of ours where another file was expected.
    OwnStore {
        cli: "use it with --store, or move its sessions with `oneiro session export`",
        http: "it needs no import; export and import move its sessions",
        tools: "it needs no import",
        library: "open it, or move its sessions with export and import_file",
    }
    /// A file of another SQLite in this process.
    ReadElsewhere {
        cli: "close it first, or run `oneiro import` in a process of its own",
        http: "close it first, or import it from another process",
        tools: "close it first, or import it from another process",
        library: "close it first, or import it from another process",
    }
    /// A transcript where an export was expected.
    ImportTranscript(agent) {
        cli: "run `oneiro import {agent} FILE`, where FILE is the transcript",
        http: "import it as a {agent} transcript, on the machine of the server",
        tools: "ask the person to import it as a {agent} transcript",
        library: "import it as a {agent} transcript, from the command line",
    }
    /// A file that export wrote is expected.
    ImportExported {
        cli: "name a file that `oneiro session export` wrote",
        http: "send what GET /v1/export answered",
        tools: "name a file that an export wrote",
        library: "name a file that export wrote",
    }
    /// See which memories there are.
    ListMemories {
        cli: "`oneiro memory list` lists all memories",
        http: "GET /v1/memories lists all memories",
        tools: "memory_review() lists the memories there are",
        library: "list_memories lists all memories",
    }
    /// See which notes there are.
    ListNotes {
        cli: "`oneiro note list` lists all notes",
        http: "GET /v1/notes lists all notes",
        tools: "memory_note() lists the notes there are",
        library: "list_notes lists all notes",
    }
    /// See which folders are mounted.
    ListMounts {
        cli: "`oneiro note mounts` lists the mounted folders",
        http: "GET /v1/mounts lists the mounted folders",
        tools: "a person can show the mounted folders",
        library: "mounts lists the mounted folders",
    }
    /// See which revisions there are.
    ListRevisions {
        cli: "`oneiro log` lists all revisions",
        http: "GET /v1/revisions lists all revisions",
        tools: "a person can show the revisions there are",
        library: "list_revisions lists all revisions",
    }
    /// See which operations there are.
    ListOperations {
        cli: "`oneiro log --memories` lists all operations",
        http: "GET /v1/operations lists all operations",
        tools: "ask the user",
        library: "operations lists all operations",
    }
    /// See which dreams there are.
    ListDreams {
        cli: "`oneiro dream log` lists all dreams",
        http: "GET /v1/dreams lists all dreams",
        tools: "ask the user",
        library: "dreams lists all dreams",
    }
    /// See which dream candidates there are.
    ListDreamCandidates {
        cli: "`oneiro dream candidates` lists all candidates",
        http: "GET /v1/dreams/candidates lists all candidates",
        tools: "ask the user",
        library: "dream_candidates lists all candidates",
    }
    /// Only a person may do it.
    AskPerson {
        cli: "run it at a terminal, without an agent",
        http: "do it on the page, or send the token of a person",
        tools: "ask the user to do this",
        library: "act as a person, or ask the user to do this",
    }
    /// A limit of an import.
    RaiseLimit(limit) {
        cli: "split the file, or raise the limit: `oneiro import FILE --max-{limit} N`",
        http: "split the file",
        tools: "split the file",
        library: "split the file, or raise max_{limit}",
    }
}

impl From<&'static str> for Remedy {
    fn from(text: &'static str) -> Remedy {
        Remedy::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Remedy {
        Remedy::Text(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_flags_are_named_on_the_command_line_alone() {
        for remedy in Remedy::examples() {
            for surface in Surface::ALL {
                let text = remedy.render(surface);
                assert!(!text.is_empty(), "{remedy:?}");
                let names_command = text.contains("`oneiro ") || text.contains("--");
                assert!(!names_command || surface == Surface::CommandLine, "{surface:?}: {text}");
            }
        }
    }

    #[test]
    fn parameters_are_filled_in() {
        let remedy = Remedy::CreateToken { role: "write".to_owned() };
        for surface in Surface::ALL {
            assert!(remedy.render(surface).contains("write"), "{surface:?}");
        }
    }
}
