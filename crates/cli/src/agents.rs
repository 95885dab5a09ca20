//! The table of agents: where each lives on this machine, where its transcripts are, and where it
//! is told of MCP servers. It must not know how files are changed.

use crate::config::folder_of_agent;
use oneiro::Agent;
use std::path::PathBuf;

/// An agent that may be on this machine.
#[derive(Debug, Clone, Copy)]
pub struct AgentRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name as people write it.
    pub title: &'static str,
    /// The variable that says where its folder is.
    variable: Option<&'static str>,
    /// Its folder in the home folder.
    folder: &'static str,
    /// Whose transcripts it has, if they can be read.
    pub transcripts: Option<Agent>,
    /// The folders of its transcripts or sessions, below its own.
    kept_in: &'static [&'static str],
    /// What its sessions are kept as: endings of files.
    pub kept_as: &'static [&'static str],
    /// The database in its folder that can be imported.
    database: Option<&'static str>,
    /// Where it is told of MCP servers.
    mcp_file: Place,
    /// In which form.
    pub mcp_form: Form,
}

/// Where a file of an agent is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In its folder.
    Inside(&'static str),
    /// In its folder if a variable says where that is, else beside it.
    InsideIfTold(&'static str),
}

/// The form of a file that tells of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, under these names.
    Json(&'static [&'static str]),
    /// TOML, in a table of this name.
    Toml(&'static str),
    /// YAML, under this name.
    Yaml(&'static str),
}

/// Every agent that is looked for.
pub const AGENTS: &[AgentRow] = &[
    AgentRow {
        name: "claude-code",
        title: "Claude Code",
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        transcripts: Some(Agent::ClaudeCode),
        kept_in: &["projects"],
        kept_as: &["jsonl"],
        database: None,
        mcp_file: Place::InsideIfTold(".claude.json"),
        mcp_form: Form::Json(&["mcpServers"]),
    },
    AgentRow {
        name: "codex",
        title: "Codex",
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        transcripts: Some(Agent::Codex),
        kept_in: &["sessions", "archived_sessions"],
        kept_as: &["jsonl"],
        database: None,
        mcp_file: Place::Inside("config.toml"),
        mcp_form: Form::Toml("mcp_servers"),
    },
    AgentRow {
        name: "hermes",
        title: "hermes",
        variable: Some("HERMES_HOME"),
        folder: ".hermes",
        transcripts: None,
        kept_in: &["."],
        kept_as: &["db"],
        database: Some("state.db"),
        mcp_file: Place::Inside("config.yaml"),
        mcp_form: Form::Yaml("mcp_servers"),
    },
    AgentRow {
        name: "openclaw",
        title: "openclaw",
        variable: Some("OPENCLAW_STATE_DIR"),
        folder: ".openclaw",
        transcripts: None,
        kept_in: &["agents"],
        kept_as: &["jsonl", "sqlite"],
        database: None,
        mcp_file: Place::Inside("openclaw.json"),
        mcp_form: Form::Json(&["mcp", "servers"]),
    },
    AgentRow {
        name: "nanobot",
        title: "nanobot",
        variable: None,
        folder: ".nanobot",
        transcripts: None,
        kept_in: &["sessions", "workspace/sessions"],
        kept_as: &["jsonl"],
        database: None,
        mcp_file: Place::Inside("config.json"),
        mcp_form: Form::Json(&["tools", "mcpServers"]),
    },
    AgentRow {
        name: "picoclaw",
        title: "picoclaw",
        variable: Some("PICOCLAW_HOME"),
        folder: ".picoclaw",
        transcripts: None,
        kept_in: &["workspace/sessions", "sessions"],
        kept_as: &["json", "jsonl", "db"],
        database: None,
        mcp_file: Place::Inside("config.json"),
        mcp_form: Form::Json(&["tools", "mcp", "servers"]),
    },
];

impl AgentRow {
    /// The row of an agent.
    pub fn of(agent: Agent) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.transcripts == Some(agent))
    }

    /// The row of an agent by its name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.name == name)
    }

    /// Whether what it keeps can be imported.
    pub fn is_importable(&self) -> bool {
        self.transcripts.is_some() || self.database.is_some()
    }

    /// Its database, if it has one that can be imported.
    pub fn database(&self) -> Option<PathBuf> {
        let path = self.home()?.join(self.database?);
        (oneiro::foreign_store(&path) == Some(oneiro::ForeignStore::Hermes)).then_some(path)
    }

    /// Its folder, whether it exists or not.
    pub fn home(&self) -> Option<PathBuf> {
        folder_of_agent(self.variable, self.folder)
    }

    /// The folders of its transcripts that exist.
    pub fn kept(&self) -> Vec<PathBuf> {
        let home = self.home();
        let folders = self.kept_in.iter().filter_map(|name| Some(home.as_ref()?.join(name)));
        folders.filter(|folder| folder.is_dir()).collect()
    }

    /// Whether its sessions lie in its folder itself, among other things.
    pub fn keeps_beside(&self) -> bool {
        self.kept_in.contains(&".")
    }

    /// The file in which it is told of MCP servers.
    pub fn mcp_file(&self) -> Option<PathBuf> {
        let home = self.home()?;
        Some(match self.mcp_file {
            Place::Inside(name) => home.join(name),
            Place::InsideIfTold(name) => match folder_of_agent(None, self.folder)? == home {
                true => folder_of_agent(None, name)?,
                false => home.join(name),
            },
        })
    }

    /// The file that holds its hooks, if it has any that capture what is said.
    pub fn hooks_file(&self) -> Option<PathBuf> {
        match self.transcripts {
            Some(Agent::ClaudeCode) => Some(self.home()?.join("settings.json")),
            _ => None,
        }
    }
}
