//! The OpenAPI document as tests read it: every endpoint there is, what it needs, and a request that
//! it takes. An endpoint that is added is walked without a word here, unless it wants a new body.

use serde_json::{Value, json};

/// One endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub method: String,
    /// With `{id}` in it, if it names something, and `{message}`, if it names one in that.
    pub path: String,
    /// The least role that may call it.
    pub role: Role,
    /// The name of the schema of its body.
    pub body: Option<String>,
    /// Parameters of the query string that it cannot do without.
    pub needs: Vec<String>,
    /// Its answers by status, as JSON pointers into the document.
    pub answers: Vec<(u16, String)>,
}

/// What a request names, each of its kind.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    pub session: &'a str,
    pub message: i64,
    pub token: &'a str,
    pub summary: &'a str,
    pub memory: &'a str,
    pub operation: &'a str,
    pub revision: &'a str,
    pub pack: &'a str,
    pub interaction: &'a str,
    pub dream: &'a str,
    pub candidate: &'a str,
}

impl Names<'_> {
    /// Of each kind one that there is not.
    pub const NONE: Names<'static> = Names {
        session: "no-such",
        message: 999_999,
        token: "tok_nosuch",
        summary: "sum_nosuch",
        memory: "mem_nosuch",
        operation: "op_nosuch",
        revision: "rev_nosuch",
        pack: "pck_nosuch",
        interaction: "int_nosuch",
        dream: "drm_nosuch",
        candidate: "cnd_nosuch",
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Read,
    Write,
    Admin,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Read, Role::Write, Role::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Write => "write",
            Role::Admin => "admin",
        }
    }
}

/// A folder that does not exist.
pub const NO_FOLDER: &str = "/nowhere/walked";

/// The document that is committed.
pub fn document() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every endpoint of the document.
pub fn endpoints(document: &Value) -> Vec<Endpoint> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            found.push(endpoint(method, path, operation));
        }
    }
    assert!(found.len() > 20);
    found
}

fn endpoint(method: &str, path: &str, operation: &Value) -> Endpoint {
    let says = operation["description"].as_str().unwrap();
    let role = Role::ALL.into_iter().find(|role| says.contains(&format!("role {}.", role.name())));
    let schema = operation.pointer("/requestBody/content/application~1json/schema/$ref");
    let body = schema.map(|name| name.as_str().unwrap().rsplit('/').next().unwrap().to_owned());
    let escaped = path.replace('~', "~0").replace('/', "~1");
    let answers =
        operation["responses"].as_object().unwrap().iter().filter_map(|(status, answer)| {
            let kind = answer["content"].as_object()?.keys().next()?.replace('/', "~1");
            let place =
                format!("/paths/{escaped}/{method}/responses/{status}/content/{kind}/schema");
            Some((status.parse().ok()?, place))
        });
    let parameters = operation["parameters"].as_array().unwrap().iter();
    let needs = parameters
        .filter(|one| one["in"] == "query" && one["required"] == true)
        .map(|one| one["name"].as_str().unwrap().to_owned());
    Endpoint {
        needs: needs.collect(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        role: role.unwrap_or_else(|| panic!("{path} does not say which role it needs")),
        body,
        answers: answers.collect(),
    }
}

impl Endpoint {
    /// The path with a thing of its kind named in it, and what it needs behind it.
    pub fn named(&self, names: Names<'_>) -> String {
        let id = match self.path.as_str() {
            path if path.starts_with("/v1/messages/") => names.message.to_string(),
            path if path.starts_with("/v1/tokens/") => names.token.to_owned(),
            path if path.starts_with("/v1/sessions/") => names.session.to_owned(),
            path if path.starts_with("/v1/summaries/") => names.summary.to_owned(),
            path if path.starts_with("/v1/memories/") => names.memory.to_owned(),
            path if path.starts_with("/v1/operations/") => names.operation.to_owned(),
            path if path.starts_with("/v1/packs/") => names.pack.to_owned(),
            path if path.starts_with("/v1/interactions/") => names.interaction.to_owned(),
            path if path.starts_with("/v1/dreams/candidates/") => names.candidate.to_owned(),
            path if path.starts_with("/v1/dreams/") => names.dream.to_owned(),
            path if path.starts_with("/v1/projects/") => String::new(),
            path if path.starts_with("/v1/notes/") => String::new(),
            path if path.starts_with("/v1/revisions/") => names.revision.to_owned(),
            path => {
                assert!(!path.contains('{'), "say in {} what {path} names", file!());
                String::new()
            }
        };
        let path = self.path.replace("{id}", &id).replace("{message}", &names.message.to_string());
        let path = path.replace("{name}", "walked");
        match self.needs.as_slice() {
            [] => path,
            [one] if one == "id" => format!("{path}?id={}", names.message),
            [one] if one == "path" => format!("{path}?path={NO_FOLDER}"),
            other => panic!("say in {} what {other:?} are", file!()),
        }
    }

    /// A body that it takes, of a request that finds `session`.
    pub fn request(&self, session: &str) -> Option<Value> {
        let name = self.body.as_deref()?;
        Some(match name {
            "NewMessages" => json!([{"role": "user", "content": "said by the walk"}]),
            "SearchRequest" => json!({
                "query": "secret", "explain": true, "neighbours": 2,
                "kinds": ["message", "summary"],
            }),
            "SessionSearchRequest" => json!({"query": "secret", "summarise": true}),
            "NewSession" => json!({"title": null, "source": "walk"}),
            "SessionPatch" => json!({"project": "walked"}),
            "Ending" => json!({"reason": "walked"}),
            "RewindRequest" => json!({"turns": 1}),
            "RestoreRequest" => json!({"all": true}),
            "BranchRequest" => json!({"title": null}),
            "SplitRequest" => json!({"until": 5_000}),
            "CompactRequest" => json!({"until": 1_000, "redo": true}),
            "NewHistory" => json!([{"role": "user", "content": "set by the walk"}]),
            "NewSummary" => json!({"content": "written by the walk"}),
            "NewUsage" => json!({"model": "m", "input_tokens": 5, "estimated_cost_usd": 0.25}),
            "NewToken" => json!({"role": "read", "name": "walk"}),
            "ProjectChoice" => json!({"folder": "/srv/walk", "capture": "off"}),
            "PauseRequest" | "BackupRequest" => json!({}),
            "EraseRequest" => json!({"session": session}),
            "PruneRequest" => json!({"ended_before": "2001-01-01T00:00:00Z", "dry_run": true}),
            "NewMemory" => json!({"content": "stated by the walk"}),
            "MemoryPatch" => json!({"tags": ["walked"]}),
            "ReasonRequest" => json!({"reason": "walked"}),
            "ReinforceRequest" => json!({"query": "walk?"}),
            "SupersedeRequest" => json!({"content": "the walk goes on"}),
            "MergeRequest" => json!({"into": "mem_nosuch"}),
            "ForgetRequest" => json!({"source": "walk", "dry_run": true}),
            "ReviewRequest" => json!({"action": "reject", "dry_run": true}),
            "DistrustRequest" => json!({"source": "walk"}),
            "ProjectRequest" => json!({"name": "walked", "aliases": ["strolled"]}),
            "WriteNote" => json!({"content": "- written by the walk\n"}),
            "EditNote" => json!({"edits": [{"action": "add", "text": "added by the walk"}]}),
            "MountNotes" => json!({"path": NO_FOLDER}),
            "RestoreNotes" => json!({"message": "walked"}),
            "StateRequest" => json!({"key": "status", "value": "on its way"}),
            "EndState" => json!({"key": "status"}),
            "NewInteraction" => json!({"prompt": "what does the walk say?", "response": "I walk."}),
            "ExtractRequest" | "UnmuteRequest" | "DreamRequest" | "UndoDream" => json!({}),
            "ScheduleDreams" => json!({"mode": "off"}),
            "PackRequest" => json!({"prompt": "what is the secret of the walk?", "budget": 200}),
            other => panic!("say in {} what a {other} looks like", file!()),
        })
    }
}
