//! What a scan reports, and the line that stands in for blocked text.

use std::fmt;
use std::ops::Range;

/// What a finding tries to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Replaces the instructions of the agent, or asks for them.
    Override,
    /// Speaks as the system or gives the agent another role.
    Role,
    /// Tells the agent to keep something from the user.
    Concealment,
    /// Is in markup that people do not see.
    Markup,
    /// Is encoded or in another language, and to be carried out after decoding.
    Encoding,
    /// Sends conversations, files or secrets elsewhere.
    Exfiltration,
    /// Reads or changes files with credentials.
    Credentials,
    /// Changes the files or variables that configure agents.
    Configuration,
    /// Is a key, token or password.
    Secret,
    /// Lets somebody else run commands.
    RemoteControl,
    /// Is made of characters that are not displayed or that reorder the text.
    Invisible,
}

impl Category {
    /// Every category.
    pub const ALL: [Category; 11] = [
        Category::Override,
        Category::Role,
        Category::Concealment,
        Category::Markup,
        Category::Encoding,
        Category::Exfiltration,
        Category::Credentials,
        Category::Configuration,
        Category::Secret,
        Category::RemoteControl,
        Category::Invisible,
    ];

    /// Its name, which the ids of its rules begin with.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Override => "override",
            Category::Role => "role",
            Category::Concealment => "concealment",
            Category::Markup => "markup",
            Category::Encoding => "encoding",
            Category::Exfiltration => "exfiltration",
            Category::Credentials => "credentials",
            Category::Configuration => "configuration",
            Category::Secret => "secret",
            Category::RemoteControl => "remote_control",
            Category::Invisible => "invisible",
        }
    }

    /// What its findings do, for people: "the text ...".
    pub fn summary(self) -> &'static str {
        match self {
            Category::Override => "tries to replace the agent's instructions",
            Category::Role => "speaks as the system or assigns a role",
            Category::Concealment => "tells the agent to hide something from the user",
            Category::Markup => "has instructions in hidden markup",
            Category::Encoding => "has encoded instructions to carry out",
            Category::Exfiltration => "sends data elsewhere",
            Category::Credentials => "reads or changes credentials",
            Category::Configuration => "changes the configuration of an agent",
            Category::Secret => "contains a secret",
            Category::RemoteControl => "lets somebody else run commands",
            Category::Invisible => "has invisible or reordering characters",
        }
    }

    /// The category of a rule by its id.
    pub(crate) fn of_rule(id: &str) -> Option<Category> {
        let name = id.split('.').next()?;
        Category::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a text that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule, with its category: `override.en.ignore`.
    pub rule: &'static str,
    /// What it tries to do.
    pub category: Category,
    /// Where, in bytes of the text that was scanned; on boundaries of characters.
    pub span: Range<usize>,
}

/// The line that is shown in place of a blocked entry. It contains nothing of the entry.
pub fn placeholder(finding: &Finding) -> String {
    let (rule, summary) = (finding.rule, finding.category.summary());
    format!("[BLOCKED: {rule}: this entry {summary}. Review it, then edit or remove it.]")
}
