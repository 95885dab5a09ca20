//! What Oneiro can do, and where each surface offers it. A test of each surface compares it with this
//! table, so that a capability which a surface forgets is noticed.

/// One thing that Oneiro can do.
#[derive(Debug, Clone, Copy)]
pub struct Capability {
    /// What it does.
    pub name: &'static str,
    /// Its endpoints: method and path.
    pub http: &'static [&'static str],
    /// Its command, if a person at a terminal needs one.
    pub command: Option<&'static str>,
    /// The tool by which agents reach it, if they do.
    pub tool: Option<&'static str>,
    /// The method of the Python handle, if programs need one.
    pub python: Option<&'static str>,
}

/// Everything that more than one surface offers.
pub const CAPABILITIES: &[Capability] = &[
    Capability {
        name: "list sessions",
        http: &["GET /v1/sessions"],
        command: Some("session list"),
        tool: Some("session_search"),
        python: Some("list_sessions"),
    },
    Capability {
        name: "create a session",
        http: &["POST /v1/sessions"],
        command: Some("session new"),
        tool: None,
        python: Some("create_session"),
    },
    Capability {
        name: "show a session",
        http: &["GET /v1/sessions/{id}"],
        command: Some("session show"),
        tool: Some("session_search"),
        python: Some("session"),
    },
    Capability {
        name: "change a session",
        http: &["PATCH /v1/sessions/{id}"],
        command: Some("session title"),
        tool: None,
        python: Some("change_session"),
    },
    Capability {
        name: "delete a session",
        http: &["DELETE /v1/sessions/{id}"],
        command: Some("session delete"),
        tool: None,
        python: Some("delete_session"),
    },
    Capability {
        name: "end a session",
        http: &["POST /v1/sessions/{id}/end"],
        command: Some("session end"),
        tool: None,
        python: Some("end_session"),
    },
    Capability {
        name: "reopen a session",
        http: &["POST /v1/sessions/{id}/reopen"],
        command: Some("session reopen"),
        tool: None,
        python: Some("reopen_session"),
    },
    Capability {
        name: "rewind",
        http: &["POST /v1/sessions/{id}/rewind"],
        command: Some("session rewind"),
        tool: None,
        python: Some("rewind"),
    },
    Capability {
        name: "restore",
        http: &["POST /v1/sessions/{id}/restore"],
        command: Some("session restore"),
        tool: None,
        python: Some("restore"),
    },
    Capability {
        name: "branch",
        http: &["POST /v1/sessions/{id}/branch"],
        command: Some("session branch"),
        tool: None,
        python: Some("branch_session"),
    },
    Capability {
        name: "split",
        http: &["POST /v1/sessions/{id}/split"],
        command: Some("session split"),
        tool: None,
        python: Some("split_session"),
    },
    Capability {
        name: "show a family",
        http: &["GET /v1/sessions/{id}/family"],
        command: Some("session tree"),
        tool: None,
        python: None,
    },
    Capability {
        name: "account for usage",
        http: &["GET /v1/sessions/{id}/usage", "POST /v1/sessions/{id}/usage"],
        command: Some("session usage"),
        tool: None,
        python: Some("add_usage"),
    },
    Capability {
        name: "list messages",
        http: &["GET /v1/sessions/{id}/messages", "GET /v1/messages/{id}"],
        command: Some("session show"),
        tool: Some("session_search"),
        python: Some("messages"),
    },
    Capability {
        name: "append",
        http: &["POST /v1/sessions/{id}/messages"],
        command: Some("append"),
        tool: None,
        python: Some("append"),
    },
    Capability {
        name: "assemble a window",
        http: &["GET /v1/sessions/{id}/context"],
        command: Some("context"),
        tool: Some("memory_context"),
        python: Some("context"),
    },
    Capability {
        name: "compact",
        http: &["POST /v1/sessions/{id}/compact"],
        command: Some("compact"),
        tool: None,
        python: Some("compact"),
    },
    Capability {
        name: "list summaries",
        http: &["GET /v1/sessions/{id}/summaries", "GET /v1/summaries/{id}"],
        command: Some("summary"),
        tool: None,
        python: Some("summaries"),
    },
    Capability {
        name: "expand",
        http: &["GET /v1/sessions/{id}/expand", "GET /v1/summaries/{id}/expand"],
        command: Some("expand"),
        tool: Some("session_expand"),
        python: Some("expand"),
    },
    Capability {
        name: "set a history",
        http: &["PUT /v1/sessions/{id}/history"],
        command: Some("session history"),
        tool: None,
        python: Some("set_history"),
    },
    Capability {
        name: "write a summary",
        http: &["GET /v1/sessions/{id}/summary", "PUT /v1/sessions/{id}/summary"],
        command: Some("session summary"),
        tool: None,
        python: Some("set_summary"),
    },
    Capability {
        name: "pin messages",
        http: &[
            "GET /v1/sessions/{id}/pins",
            "PUT /v1/sessions/{id}/pins/{message}",
            "DELETE /v1/sessions/{id}/pins/{message}",
        ],
        command: Some("session pin"),
        tool: None,
        python: Some("pin"),
    },
    Capability {
        name: "search messages",
        http: &["POST /v1/search"],
        command: Some("search"),
        tool: Some("session_expand"),
        python: Some("search"),
    },
    Capability {
        name: "search conversations",
        http: &["POST /v1/session-search"],
        command: Some("session search"),
        tool: Some("session_search"),
        python: Some("search_sessions"),
    },
    Capability {
        name: "watch changes",
        http: &["GET /v1/events"],
        command: None,
        tool: None,
        python: None,
    },
    Capability {
        name: "run jobs",
        http: &["GET /v1/jobs", "POST /v1/jobs/run"],
        command: Some("jobs"),
        tool: None,
        python: Some("run_jobs"),
    },
    Capability {
        name: "hand out tokens",
        http: &["GET /v1/tokens", "POST /v1/tokens", "DELETE /v1/tokens/{id}"],
        command: Some("token create"),
        tool: None,
        python: None,
    },
    Capability {
        name: "show counts and sizes",
        http: &["GET /v1/stats", "GET /v1/activity", "GET /v1/latency"],
        command: Some("stats"),
        tool: Some("memory_status"),
        python: Some("stats"),
    },
    Capability {
        name: "back up",
        http: &["POST /v1/backup"],
        command: Some("backup"),
        tool: None,
        python: Some("backup"),
    },
    Capability {
        name: "export",
        http: &["GET /v1/export"],
        command: Some("session export"),
        tool: None,
        python: Some("export"),
    },
    Capability {
        name: "erase",
        http: &["POST /v1/erasures"],
        command: Some("erase"),
        tool: None,
        python: Some("erase"),
    },
    Capability {
        name: "prune",
        http: &["POST /v1/prune"],
        command: Some("session prune"),
        tool: None,
        python: Some("prune_sessions"),
    },
];
