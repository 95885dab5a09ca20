//! `oneiro bench dreams`: plays a simulated year into a space, dreams every night, and measures what was
//! promoted, beside the formula of openclaw and beside the rule "the person said it on two days".

mod baseline;
mod calendar;
mod claim;
mod load;
mod metrics;
mod plan;
mod player;
mod run;
mod script;
mod words;
mod year;

pub use baseline::{Promotions, Recall, openclaw, said_on_two_days};
pub use claim::{Claim, End, Evidence, MINIMA, Matcher, Minimum, Stated};
pub use load::{
    DreamLoadRequest, DreamLoadResults, DreamLoadTimes, describe_load, dream_once, run_load,
};
pub use metrics::{PromotionMetrics, measure};
pub use player::{NIGHTS_TO_FORGET, Played, Player, YearClock, YearIds};
pub use run::{DreamsRequest, DreamsResults, NoteMetrics, PresetResults, describe, dream, run};
pub use words::ClaimKind;
pub use year::{Act, EchoForm, Event, SessionInfo, Year, YearRequest};
