//! `oneiro token`: who may reach a space from elsewhere.

use crate::context::Context;
use crate::output::{ago, table};
use clap::{Args, Subcommand, ValueEnum};
use oneiro::{Cursor, NewToken, Page, Span, Timestamp, Token, TokenRole};

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
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            TokenCommand::Create(args) => args.run(context),
            TokenCommand::List(args) => {
                let oneiro = context.open_to_read()?;
                let cursor = args.cursor.as_deref().map(Cursor::parse).transpose()?;
                let page = oneiro.list_tokens(cursor, args.limit)?;
                context.output.show(&page, |page| describe(page, oneiro.now()))
            }
            TokenCommand::Revoke(args) => {
                let token = context.open_to_read()?.revoke_token(&args.id)?;
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
        let expires_at = self.expires.as_deref().map(|text| end(text, oneiro.now())).transpose()?;
        let token = oneiro.create_token(NewToken { role, name: self.name, expires_at })?;
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

/// A moment, or a number of days or hours from now.
fn end(text: &str, now: Timestamp) -> oneiro::Result<Timestamp> {
    let in_unit = |unit: char, seconds: i64| {
        let count = text.strip_suffix(unit)?.parse::<i64>().ok()?;
        (1..=1_000_000).contains(&count).then_some(count * seconds)
    };
    match in_unit('d', 86_400).or_else(|| in_unit('h', 3_600)) {
        Some(seconds) => Ok(now.plus(Span::seconds(seconds))),
        None => Timestamp::parse(text).map_err(|_| {
            oneiro::Error::field("expires", format!("{text:?} is neither a time nor a span"))
                .remedy("write 90d, 12h, or 2026-12-31T00:00:00Z")
        }),
    }
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
