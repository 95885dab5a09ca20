//! What every command gets: the configuration, the way to print, and the open space.

use crate::actor;
use crate::args::Global;
use crate::config::Config;
use crate::output::Output;
use crate::progress;
use crate::style::Style;
use anyhow::Result;
use oneiro::{Embedder, ErrorKind, Llm, Oneiro, Options, Prompts, SpaceUse, Target};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long background work after a command may take. Nobody at the terminal notices it.
const SLICE_AFTER_COMMAND: Duration = Duration::from_millis(20);

/// How long a write of that work waits for other writers.
const WRITE_WAIT_AFTER_COMMAND: Duration = Duration::from_millis(250);

/// What every command gets.
pub struct Context {
    /// The configuration.
    pub config: Config,
    /// How to print.
    pub output: Output,
    /// Colours of standard output.
    pub style: Style,
    space_use: SpaceUse,
    /// One for the whole process, so that what it may cost is counted once.
    llm: OnceLock<Option<Arc<dyn Llm>>>,
}

impl Context {
    /// Reads the configuration.
    pub fn new(global: &Global, space_use: SpaceUse) -> Result<Context> {
        Ok(Context {
            config: Config::load(global)?,
            output: Output::new(global.json),
            style: Style::of_stream(&std::io::stdout()),
            space_use,
            llm: OnceLock::new(),
        })
    }

    /// Logs to standard error as configured; a filter that cannot be read logs warnings.
    pub fn start_logging(&self) {
        let filter = tracing_subscriber::EnvFilter::try_new(&self.config.log)
            .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(Style::of_stream(&std::io::stderr()).has_colours())
            .with_target(false)
            .try_init();
    }

    /// Where the space is kept.
    pub fn target(&self) -> Result<Target> {
        Ok(Target::parse(&self.config.store, self.config.space.as_ref())?)
    }

    /// Opens the space as the command uses it. Changes are recorded as those of the user who runs it.
    pub fn open(&self) -> Result<Oneiro> {
        let must_exist = self.space_use == SpaceUse::MustExist;
        let options = Options { must_exist, ..self.options() };
        Ok(Oneiro::open(&self.target()?, options)?.acting_as(actor::current()))
    }

    /// Opens the space if it exists, also for a command that may create one.
    pub fn open_if_exists(&self) -> Result<Option<Oneiro>> {
        match Oneiro::open(&self.target()?, Options { must_exist: true, ..self.options() }) {
            Ok(oneiro) => Ok(Some(oneiro.acting_as(actor::current()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the space for `work`, which adds something to it. If `work` is refused, a space that did
    /// not exist before does not exist afterwards either.
    pub fn open_to_add<T>(&self, work: impl Fn(&Oneiro) -> Result<T>) -> Result<(Oneiro, T)> {
        let actor = actor::current();
        let work = |oneiro: &Oneiro| work(&oneiro.acting_as(actor.clone()));
        let (oneiro, added) = Oneiro::open_to_add(&self.target()?, self.options(), work)?;
        Ok((oneiro.acting_as(actor), added))
    }

    /// The embedding server. One that cannot be used is logged, and search goes on by words.
    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        let config = self.config.embedder.clone()?;
        match oneiro_inference::openai_embedder(config) {
            Ok(embedder) => Some(embedder),
            Err(error) => {
                tracing::warn!(%error, "embedder_url is ignored");
                None
            }
        }
    }

    /// The model that writes summaries. One that cannot be used is logged, and summaries are extracts.
    fn llm(&self) -> Option<Arc<dyn Llm>> {
        let made = self.llm.get_or_init(|| {
            let made = oneiro_inference::openai_chat(self.config.llm.clone()?);
            made.inspect_err(|error| tracing::warn!(%error, "llm_url is ignored")).ok()
        });
        made.clone()
    }

    /// The prompts. If they cannot be read that is logged, and the built-in ones are used.
    fn prompts(&self) -> Prompts {
        let names: Vec<&str> = oneiro::PROMPTS.iter().map(|(name, _)| *name).collect();
        let read = self.config.prompts(&names).and_then(Prompts::replacing);
        read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the prompts are ignored");
            Prompts::default()
        })
    }

    /// How the space is opened.
    pub fn options(&self) -> Options {
        Options {
            durability: self.config.durability,
            busy_timeout: self.config.busy_timeout,
            statement_timeout: self.config.statement_timeout,
            timezone: machine_timezone(),
            words: Some(oneiro_inference::static_words()),
            embedder: self.embedder(),
            llm: self.llm(),
            prompts: self.prompts(),
            ..Options::default()
        }
    }

    /// Does one short slice of background work after a command, without waiting long for writers;
    /// what fails is tried again later, so it is only logged.
    pub fn after(&self, oneiro: &Oneiro) {
        let oneiro = oneiro.with_max_write_wait(WRITE_WAIT_AFTER_COMMAND);
        if let Err(error) = oneiro.jobs().run_local(SLICE_AFTER_COMMAND) {
            tracing::info!(error = %error, "background work is postponed");
        }
    }

    /// Brings the text index up to what was just stored in bulk, so that the first search need not
    /// read all of it. What fails is done later, so it is only logged.
    pub fn index(&self, oneiro: &Oneiro) {
        let bar = progress::bar(0, "index", self.output.json);
        let folded = oneiro.index().catch_up(&mut |reach, last| {
            bar.set_length(u64::try_from(last).unwrap_or(0));
            bar.set_position(u64::try_from(reach).unwrap_or(0));
        });
        bar.finish_and_clear();
        if let Err(error) = folded {
            tracing::info!(error = %error, "the text index is not up to date");
        }
    }
}

/// The time zone of this machine, unless it is UTC or has no name.
pub fn machine_timezone() -> Option<String> {
    let zone = jiff::tz::TimeZone::system();
    zone.iana_name().filter(|name| !name.ends_with("UTC")).map(str::to_owned)
}
