//! `oneiro token`: who may reach a space from elsewhere.

use crate::context::Context;
use crate::output::{ago, table};
use crate::request::request;
use clap::{Args, Subcommand, ValueEnum};
use oneiro::{ActorKind, NewToken, Page, PageOf, SpaceUse, Span, Timestamp, Token, TokenRole};
use serde_json::json;

/// Make, list and take back tokens, by which others reach a space
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is shown this once
    Create(CreateArgs),
    /// List tokens, newest first
    List(ListArgs),
    /// Take a token back; it opens nothing from now on
    Revoke(RevokeArgs),
}

/// Make a token; it is shown this once
///
/// The token opens the space that --space names, over HTTP and MCP: send it as
/// `Authorization: Bearer TOKEN`, or log in with it on the page.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// How far it reaches: each may do what the ones before it may
    #[arg(long, value_enum, default_value_t = RoleArg::Write)]
    role: RoleArg,
    /// Whom or what it is for
    #[arg(long)]
    name: Option<String>,
    /// When it ends: a time such as 2026-12-31T00:00:00Z, or so many days or hours from now, as in 90d or
    /// 12h
    #[arg(long, value_name = "TIME|DAYS")]
    expires: Option<String>,
    /// Who acts with it: what only people may do needs a person
    #[arg(long, value_enum, default_value_t = ActorArg::Agent)]
    actor: ActorArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ActorArg {
    /// A program that acts for somebody
    Agent,
    /// Somebody
    Person,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleArg {
    /// Look at everything
    Read,
    /// Add and change as well
    Write,
    /// Remove, copy and hand out tokens as well
    Admin,
}

/// List tokens, newest first
#[derive(Debug, Args)]
pub struct ListArgs {
    /// At most so many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// The `next` of the page before
    #[arg(long)]
    cursor: Option<String>,
}

/// Take a token back; it opens nothing from now on
#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// Its id, or a beginning of it that no other has
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
                context.output.show(&token, |token| format!("{} opens nothing any more", token.id))
            }
        }
    }
}

impl CreateArgs {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let role = match self.role {
            RoleArg::Read => TokenRole::Read,
            RoleArg::Write => TokenRole::Write,
            RoleArg::Admin => TokenRole::Admin,
        };
        let expires_at = self.expires.map(|text| from_now(&text, oneiro.now()).unwrap_or(text));
        let actor = match self.actor {
            ActorArg::Agent => ActorKind::Agent,
            ActorArg::Person => ActorKind::Person,
        };
        let (name, actor) = (self.name, actor.as_str());
        let fields = json!({"role": role, "name": name, "expires_at": expires_at, "actor": actor});
        let token: NewToken = request(&oneiro, fields)?;
        let token = oneiro.tokens().create(token)?;
        context.output.show(&token, |token| token.token.clone().unwrap_or_default())?;
        context.output.say(&format!(
            "This is the only time it is shown. It opens space {space} with the role {}; `oneiro \
             token revoke {} --space {space}` takes it back.",
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
        return "No tokens. Make one with `oneiro token create`.".to_owned();
    }
    let row = |token: &Token| {
        let ends = match (token.revoked_at, token.expires_at) {
            (Some(_), _) => "revoked".to_owned(),
            (None, Some(at)) if at <= now => "ended".to_owned(),
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
    table(&["id", "role", "name", "made", "ends"], &rows)
}
