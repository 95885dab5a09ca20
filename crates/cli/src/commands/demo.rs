//! `oneiro demo`: a month of sample conversations.

use crate::context::Context;
use crate::output::count;
use crate::progress;
use clap::Args;
use oneiro::{Error, Oneiro, Options, SpaceName, Target, is_single_space};
use oneiro_demo::{DEMO_SPACE, EXAMPLE_QUESTIONS, Filled, Removed, Request};

/// Fill a space with a month of sample conversations
///
/// The month ends now and is Mira's: she renovates a flat, trains for a half marathon, maintains a
/// crate, plans a journey and helps her mother, with several agents and in several languages. What is
/// remembered of it waits for review, is believed, contradicted, superseded or undone, and each night
/// a dream keeps the best of it. The default space is `demo`. Running it again restores what is missing and changes nothing else.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Delete the sample conversations and memories, and nothing else
    #[arg(long, conflicts_with = "force")]
    remove: bool,
    /// Fill the space even if it has other sessions
    #[arg(long)]
    force: bool,
}

impl DemoArgs {
    /// Fills or empties the space.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let target = target(context)?;
        if self.remove {
            let options = Options { must_exist: true, ..context.options() };
            let removed = oneiro_demo::remove(&Oneiro::open(&target, options)?)?;
            return context.output.show(&removed, describe_removed);
        }
        let (_, filled) = open(context, self.force)?;
        context.output.show(&filled, |filled| describe(filled, &Way::to(context, &target)))
    }
}

/// Opens the space of the demonstration, filled: what `oneiro demo` does before it prints.
pub fn open(context: &Context, force: bool) -> anyhow::Result<(Oneiro, Filled)> {
    let oneiro = Oneiro::open(&target(context)?, context.options())?;
    let sessions = oneiro_demo::count_sessions(&oneiro)?;
    if sessions.demo == 0 && sessions.others > 0 && !force {
        return Err(Error::conflict(format!(
            "{} already has {}",
            oneiro.target(),
            count(sessions.others, "session")
        ))
        .remedy(
            "give another --space or --store, or --force to add the sample conversations anyway",
        )
        .into());
    }
    let bar = progress::bar(0, "demo", context.output.json);
    let request = Request::new(oneiro.now());
    let filled = oneiro_demo::fill(&oneiro, request, &mut |at| {
        bar.set_length(at.of as u64);
        bar.set_position(at.sessions as u64);
    });
    bar.finish_and_clear();
    let filled = filled?;
    context.index(&oneiro);
    Ok((oneiro, filled))
}

/// The space that was named, else the space `demo`; a single file is a space by itself.
fn target(context: &Context) -> anyhow::Result<Target> {
    let config = &context.config;
    if config.space.is_some() || is_single_space(&config.store) {
        context.target()
    } else {
        Ok(Target::parse(&config.store, Some(&SpaceName::new(DEMO_SPACE)?))?)
    }
}

/// How to begin a command that leads to the space again.
struct Way {
    /// `oneiro`, with the store if it was named on the command line.
    store: String,
    /// The same with the space.
    space: String,
    /// Whether it is the space that `serve --demo` opens.
    is_usual: bool,
}

impl Way {
    fn to(context: &Context, target: &Target) -> Way {
        let config = &context.config;
        let store = match (config.is_named("store"), config.store.contains("://")) {
            (false, _) => "oneiro".to_owned(),
            // It may hold a password.
            (true, true) => "oneiro --store URL".to_owned(),
            (true, false) => format!("oneiro --store {}", quoted(&config.store)),
        };
        if is_single_space(&config.store) {
            Way { space: store.clone(), store, is_usual: false }
        } else {
            Way {
                space: format!("{store} --space {}", target.space()),
                store,
                is_usual: target.space().as_str() == DEMO_SPACE,
            }
        }
    }
}

/// A path as a shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

fn describe(filled: &Filled, way: &Way) -> String {
    let what = |sessions, messages| {
        format!("{} with {}", count(sessions, "session"), count(messages, "message"))
    };
    let first = match (filled.sessions, filled.messages) {
        (0, 0) => {
            format!("Already complete, 0 new: {}.", what(filled.all_sessions, filled.all_messages))
        }
        (sessions, messages) if sessions == filled.all_sessions => {
            let memories = count(filled.memories, "memory");
            let nights = count(filled.dreams, "dream");
            let what = what(sessions, messages);
            format!("{what}, {memories} and {nights}, a month that ends now.")
        }
        (sessions, messages) => {
            let all = what(filled.all_sessions, filled.all_messages);
            format!("Completed: {} new, of {all}.", what(sessions, messages))
        }
    };
    let [question, ..] = EXAMPLE_QUESTIONS;
    let Way { store, space, is_usual } = way;
    let serve = if *is_usual { format!("{store} serve --demo") } else { format!("{space} serve") };
    format!("{first}\n\nTry:\n  {space} search \"{question}\"\n  {space} session list\n  {serve}")
}

fn describe_removed(removed: &Removed) -> String {
    let messages = usize::try_from(removed.messages).unwrap_or_default();
    format!(
        "{} with {}, {}, {} and {} removed",
        count(removed.sessions, "session"),
        count(messages, "message"),
        count(removed.memories, "memory"),
        count(removed.notes, "note"),
        count(removed.dreams, "dream"),
    )
}
