//! `oneiro token`: access tokens of a space.

use crate::context::Context;
use crate::output::{ago, table};
use crate::request::request;
use clap::{Args, Subcommand, ValueEnum};
use oneiro::{ActorKind, NewToken, Page, PageOf, SpaceUse, Span, Timestamp, Token, TokenRole};
use serde_json::json;

/// Create, list and revoke access tokens
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token; it is shown only once
    Create(CreateArgs),
    /// List tokens, newest first
    List(ListArgs),
    /// Revoke a token
    Revoke(RevokeArgs),
}

/// Create a token; it is shown only once
///
/// The token opens the space that --space names, over HTTP and MCP: send it as
/// `Authorization: Bearer TOKEN`, or log in with it on the page.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// Permission level; each includes the ones before it
    #[arg(long, value_enum, default_value_t = RoleArg::Write)]
    role: RoleArg,
    /// Name of the person or program that uses it
    #[arg(long)]
    name: Option<String>,
    /// Expiry: a time such as 2026-12-31T00:00:00Z, or a number of days or hours such as 90d or 12h
    #[arg(long, value_name = "TIME|DAYS")]
    expires: Option<String>,
    /// Who uses it; some actions are allowed to people only
    #[arg(long, value_enum, default_value_t = ActorArg::Agent)]
    actor: ActorArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ActorArg {
    /// A program
    Agent,
    /// A person
    Person,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleArg {
    /// Read everything
    Read,
    /// Also add and change
    Write,
    /// Also remove, back up and manage tokens
    Admin,
}

/// List tokens, newest first
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Maximum number of results
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Continue after the previous page: its `next`
    #[arg(long)]
    cursor: Option<String>,
}

/// Revoke a token
#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// Id of the token, or a unique prefix of it
    id: String,
}

impl TokenCommand {
    /// The first token is created before anything else is in the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            TokenCommand::Create(_) => SpaceUse::CreateMissing,
            TokenCommand::List(_) | TokenCommand::Revoke(_) => SpaceUse::MustExist,
        }
    }

    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            TokenCommand::Create(args) => args.run(context),
            TokenCommand::List(args) => {
                let oneiro = context.open()?;
                let page: PageOf =
                    request(&oneiro, json!({"limit": args.limit, "cursor": args.cursor}))?;
                let page = oneiro.tokens().list(page.cursor, page.limit)?;
                context.output.show(&page, |page| describe(page, oneiro.now()))
            }
            TokenCommand::Revoke(args) => {
                let token = context.open()?.tokens().revoke(&args.id)?;
                context.output.show(&token, |token| format!("Token {} is revoked.", token.id))
            }
        }
    }
}

impl CreateArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let role = match self.role {
            RoleArg::Read => TokenRole::Read,
            RoleArg::Write => TokenRole::Write,
            RoleArg::Admin => TokenRole::Admin,
        };
        let actor = match self.actor {
            ActorArg::Agent => ActorKind::Agent,
            ActorArg::Person => ActorKind::Person,
        };
        let (_, token) = context.open_to_add(|oneiro| {
            let expires_at = self.expires.as_ref();
            let expires_at =
                expires_at.map(|text| from_now(text, oneiro.now()).unwrap_or(text.clone()));
            let fields = json!({
                "role": role, "name": self.name, "expires_at": expires_at, "actor": actor.as_str(),
            });
            let token: NewToken = request(oneiro, fields)?;
            Ok(oneiro.tokens().create(token)?)
        })?;
        context.output.show(&token, |token| token.token.clone().unwrap_or_default())?;
        context.output.note(&format!(
            "The token is shown only this once. It gives access to space {space} with the role {}; \
             `oneiro token revoke {} --space {space}` revokes it.",
            token.role.as_str(),
            token.id,
            space = token.space,
        ));
        Ok(())
    }
}

/// The moment after a number of days or hours. Elsewhere such a span is an age and means the past.
fn from_now(text: &str, now: Timestamp) -> Option<String> {
    let in_unit = |unit: char, seconds: i64| {
        let count = text.strip_suffix(unit)?.parse::<i64>().ok()?;
        (1..=1_000_000).contains(&count).then_some(count * seconds)
    };
    let seconds = in_unit('d', 86_400).or_else(|| in_unit('h', 3_600))?;
    Some(now.plus(Span::seconds(seconds)).to_string())
}

fn describe(page: &Page<Token>, now: Timestamp) -> String {
    if page.items.is_empty() {
        return "No tokens. Create one with `oneiro token create`.".to_owned();
    }
    let row = |token: &Token| {
        let ends = match (token.revoked_at, token.expires_at) {
            (Some(_), _) => "revoked".to_owned(),
            (None, Some(at)) if at <= now => "expired".to_owned(),
            (None, Some(at)) => format!("until {at}"),
            (None, None) => String::new(),
        };
        vec![
            token.id.to_string(),
            token.role.as_str().to_owned(),
            token.name.clone().unwrap_or_default(),
            ago(token.created_at, now),
            ends,
        ]
    };
    let rows: Vec<_> = page.items.iter().map(row).collect();
    table(&["id", "role", "name", "created", "expires"], &rows)
}
