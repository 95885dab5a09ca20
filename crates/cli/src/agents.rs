//! The table of agents: where each lives on this machine, where its transcripts are, and where its
//! MCP servers are configured. It must not know how files are changed.

use crate::config::{desktop_config_folder, folder_of_agent, xdg_config_folder};
use oneiro::{Agent, CaptureSource};
use std::path::PathBuf;

/// An agent that may be on this machine.
#[derive(Debug, Clone, Copy)]
pub struct AgentRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name as people write it.
    pub title: &'static str,
    /// Where its folder is.
    home: AgentFolder,
    /// What it keeps that can be read, if anything.
    sessions: Sessions,
    /// The file in which its MCP servers are configured.
    mcp_file: McpFile,
    /// In which form.
    pub mcp_form: Form,
    /// What an entry for an MCP server looks like.
    pub mcp_entry: EntryForm,
}

/// Where the folder of an agent is.
#[derive(Debug, Clone, Copy)]
enum AgentFolder {
    /// Where the variable says, else in the home folder.
    VariableOrHome(&'static str, &'static str),
    /// In the home folder.
    InHome(&'static str),
    /// In the folder for configuration of desktop programs.
    InDesktopConfig(&'static str),
    /// In the XDG folder for configuration.
    InXdgConfig(&'static str),
}

/// What an agent keeps of its sessions.
#[derive(Debug, Clone, Copy)]
enum Sessions {
    /// Transcripts that can be read, in these folders below its own.
    Transcripts { agent: Agent, folders: &'static [&'static str] },
    /// A database in its folder that can be imported.
    Database(&'static str),
    /// Files with these endings, in these folders, that cannot be read yet.
    Unknown { folders: &'static [&'static str], endings: &'static [&'static str] },
    /// Nothing that is looked for.
    None,
}

/// Where the file with MCP servers is.
#[derive(Debug, Clone, Copy)]
enum McpFile {
    /// In its folder; the first that exists, else the first.
    Inside(&'static [&'static str]),
    /// In its folder if a variable says where that is, else beside it.
    InsideOrBeside(&'static str),
}

/// The form of a file with MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, under these names.
    Json(&'static [&'static str]),
    /// TOML, in a table of this name.
    Toml(&'static str),
    /// YAML, under this name.
    Yaml(&'static str),
}

/// The fields of an entry for an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryForm {
    /// `command` and `args`.
    CommandAndArgs,
    /// `type: stdio`, `command` and `args`.
    Stdio,
    /// `enabled`, `command` and `args`.
    Enabled,
    /// `type: local`, a list as `command`, and `enabled`.
    Local,
}

/// Every agent that is looked for.
pub const AGENTS: &[AgentRow] = &[
    AgentRow {
        name: "claude-code",
        title: "Claude Code",
        home: AgentFolder::VariableOrHome("CLAUDE_CONFIG_DIR", ".claude"),
        sessions: Sessions::Transcripts { agent: Agent::ClaudeCode, folders: &["projects"] },
        mcp_file: McpFile::InsideOrBeside(".claude.json"),
        mcp_form: Form::Json(&["mcpServers"]),
        mcp_entry: EntryForm::Stdio,
    },
    AgentRow {
        name: "codex",
        title: "Codex",
        home: AgentFolder::VariableOrHome("CODEX_HOME", ".codex"),
        sessions: Sessions::Transcripts {
            agent: Agent::Codex,
            folders: &["sessions", "archived_sessions"],
        },
        mcp_file: McpFile::Inside(&["config.toml"]),
        mcp_form: Form::Toml("mcp_servers"),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "hermes",
        title: "hermes",
        home: AgentFolder::VariableOrHome("HERMES_HOME", ".hermes"),
        sessions: Sessions::Database("state.db"),
        mcp_file: McpFile::Inside(&["config.yaml"]),
        mcp_form: Form::Yaml("mcp_servers"),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "openclaw",
        title: "openclaw",
        home: AgentFolder::VariableOrHome("OPENCLAW_STATE_DIR", ".openclaw"),
        sessions: Sessions::Unknown { folders: &["agents"], endings: &["jsonl", "sqlite"] },
        mcp_file: McpFile::Inside(&["openclaw.json"]),
        mcp_form: Form::Json(&["mcp", "servers"]),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "nanobot",
        title: "nanobot",
        home: AgentFolder::InHome(".nanobot"),
        sessions: Sessions::Unknown {
            folders: &["sessions", "workspace/sessions"],
            endings: &["jsonl"],
        },
        mcp_file: McpFile::Inside(&["config.json"]),
        mcp_form: Form::Json(&["tools", "mcpServers"]),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "picoclaw",
        title: "picoclaw",
        home: AgentFolder::VariableOrHome("PICOCLAW_HOME", ".picoclaw"),
        sessions: Sessions::Unknown {
            folders: &["workspace/sessions", "sessions"],
            endings: &["json", "jsonl", "db"],
        },
        mcp_file: McpFile::Inside(&["config.json"]),
        mcp_form: Form::Json(&["tools", "mcp", "servers"]),
        mcp_entry: EntryForm::Enabled,
    },
    AgentRow {
        name: "cursor",
        title: "Cursor",
        home: AgentFolder::InHome(".cursor"),
        sessions: Sessions::None,
        mcp_file: McpFile::Inside(&["mcp.json"]),
        mcp_form: Form::Json(&["mcpServers"]),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "claude-desktop",
        title: "Claude Desktop",
        home: AgentFolder::InDesktopConfig("Claude"),
        sessions: Sessions::None,
        mcp_file: McpFile::Inside(&["claude_desktop_config.json"]),
        mcp_form: Form::Json(&["mcpServers"]),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "vscode",
        title: "VS Code",
        home: AgentFolder::InDesktopConfig("Code/User"),
        sessions: Sessions::None,
        mcp_file: McpFile::Inside(&["mcp.json"]),
        mcp_form: Form::Json(&["servers"]),
        mcp_entry: EntryForm::Stdio,
    },
    AgentRow {
        name: "gemini",
        title: "Gemini CLI",
        home: AgentFolder::InHome(".gemini"),
        sessions: Sessions::None,
        mcp_file: McpFile::Inside(&["settings.json"]),
        mcp_form: Form::Json(&["mcpServers"]),
        mcp_entry: EntryForm::CommandAndArgs,
    },
    AgentRow {
        name: "opencode",
        title: "OpenCode",
        home: AgentFolder::InXdgConfig("opencode"),
        sessions: Sessions::None,
        mcp_file: McpFile::Inside(&["opencode.json", "opencode.jsonc"]),
        mcp_form: Form::Json(&["mcp"]),
        mcp_entry: EntryForm::Local,
    },
];

impl AgentRow {
    /// The row of an agent whose transcripts are read.
    pub fn of(agent: Agent) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.transcripts() == Some(agent))
    }

    /// The row of an agent by its name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.name == name)
    }

    /// Whose transcripts it has, if they can be read.
    pub fn transcripts(&self) -> Option<Agent> {
        match self.sessions {
            Sessions::Transcripts { agent, .. } => Some(agent),
            _ => None,
        }
    }

    /// Whether it keeps sessions that setup knows of.
    pub fn has_sessions(&self) -> bool {
        !matches!(self.sessions, Sessions::None)
    }

    /// Whether its sessions can be imported.
    pub fn is_importable(&self) -> bool {
        matches!(self.sessions, Sessions::Transcripts { .. } | Sessions::Database(_))
    }

    /// Its database, if it has one that can be imported.
    pub fn database(&self) -> Option<PathBuf> {
        let Sessions::Database(name) = self.sessions else { return None };
        let path = self.home()?.join(name);
        (oneiro::foreign_store(&path) == Some(oneiro::ForeignStore::Hermes)).then_some(path)
    }

    /// Its folder, whether it exists or not.
    pub fn home(&self) -> Option<PathBuf> {
        match self.home {
            AgentFolder::VariableOrHome(variable, folder) => {
                folder_of_agent(Some(variable), folder)
            }
            AgentFolder::InHome(folder) => folder_of_agent(None, folder),
            AgentFolder::InDesktopConfig(folder) => Some(desktop_config_folder()?.join(folder)),
            AgentFolder::InXdgConfig(folder) => Some(xdg_config_folder()?.join(folder)),
        }
    }

    /// The folders of its sessions that exist.
    pub fn session_folders(&self) -> Vec<PathBuf> {
        let folders = self.possible_session_folders().into_iter();
        folders.filter(|folder| folder.is_dir()).collect()
    }

    fn possible_session_folders(&self) -> Vec<PathBuf> {
        let names: &[&str] = match self.sessions {
            Sessions::Transcripts { folders, .. } | Sessions::Unknown { folders, .. } => folders,
            Sessions::Database(_) => &["."],
            Sessions::None => &[],
        };
        let home = self.home();
        names.iter().filter_map(|name| Some(home.as_ref()?.join(name))).collect()
    }

    /// The endings of the files that hold its sessions, where they are counted by ending.
    pub fn session_endings(&self) -> &'static [&'static str] {
        match self.sessions {
            Sessions::Unknown { endings, .. } => endings,
            Sessions::Database(_) => &["db"],
            Sessions::Transcripts { .. } | Sessions::None => &[],
        }
    }

    /// Whether its sessions lie in its folder itself, among other things.
    pub fn has_database_beside_other_files(&self) -> bool {
        matches!(self.sessions, Sessions::Database(_))
    }

    /// Where it writes what can be captured. What does not exist yet is named too: it may be made
    /// later.
    pub fn capture_sources(&self) -> Vec<CaptureSource> {
        match self.sessions {
            Sessions::Transcripts { agent, .. } => {
                let folders = self.possible_session_folders().into_iter();
                folders.map(|folder| CaptureSource::Transcripts { agent, folder }).collect()
            }
            Sessions::Database(name) => {
                let file = self.home().map(|home| home.join(name));
                file.map(|file| CaptureSource::Hermes { file }).into_iter().collect()
            }
            Sessions::Unknown { .. } | Sessions::None => Vec::new(),
        }
    }

    /// The file in which its MCP servers are configured.
    pub fn mcp_file(&self) -> Option<PathBuf> {
        let home = self.home()?;
        match (self.mcp_file, self.home) {
            (McpFile::Inside(names), _) => {
                let mut files = names.iter().map(|name| home.join(name));
                let first = files.next()?;
                let other = files.find(|file| file.exists() && !first.exists());
                Some(other.unwrap_or(first))
            }
            (
                McpFile::InsideOrBeside(name),
                AgentFolder::VariableOrHome(_, folder) | AgentFolder::InHome(folder),
            ) if folder_of_agent(None, folder)? == home => folder_of_agent(None, name),
            (McpFile::InsideOrBeside(name), _) => Some(home.join(name)),
        }
    }

    /// Whether it starts programs with the search path of a shell. Desktop programs need not.
    pub fn has_shell_path(&self) -> bool {
        !matches!(self.home, AgentFolder::InDesktopConfig(_)) && self.name != "cursor"
    }

    /// The file that holds its hooks, if it has any that capture turns.
    pub fn hooks_file(&self) -> Option<PathBuf> {
        match self.transcripts() {
            Some(Agent::ClaudeCode) => Some(self.home()?.join("settings.json")),
            _ => None,
        }
    }
}

/// Where the agents of this machine write what can be captured.
pub fn capture_sources() -> Vec<CaptureSource> {
    AGENTS.iter().flat_map(AgentRow::capture_sources).collect()
}
