//! The words of Oneiro: ids, time, roles, sessions, messages, jobs, requests and answers, and the
//! one public [`Error`]. It owns meaning and validation; it must not know SQL, files, or any engine.

#[macro_use]
mod named;

mod change;
mod context;
mod error;
mod id;
mod job;
pub mod json;
mod message;
mod page;
mod part;
mod pattern;
mod private;
mod query;
mod retention;
mod role;
mod search;
mod session;
mod slot;
mod space;
mod stats;
mod time;
mod title;
mod token;
mod usage;
mod window;

pub use change::{Change, ChangeKind, ChangeMark, SeenPart};
pub use context::{
    BreakReason, CompactRequest, Compacted, ContextScope, EXPAND_TOKENS, ExpandRequest, ExpandWhat,
    Expanded, GrepRequest, Grepped, ItemPlace, LookedUp, Omitted, PrefixBreak, SessionDigest,
    Summary, SummaryHit, SummaryKind, SummaryLevel, WINDOW_BUDGET, Window, WindowItem,
    WindowRequest,
};
pub use error::{Error, ErrorKind, KINDS, KindRow, Result};
pub use id::{JobId, MessageId, SessionId, SummaryId, TokenId};
pub use job::{Job, JobNeed, JobState, NewJob};
pub use message::{Appended, Message, MessageCounts, NewMessage, Visibility};
pub use page::{Cursor, Page};
pub use part::{Part, parts, searchable};
pub use pattern::SessionPattern;
pub use private::{PRIVATE_MARKER, withhold};
pub use query::{Expr, Filters, Query};
pub use retention::{Deleted, Erased, ErasureProof, Imported, PruneRequest, Pruned, Rewound};
pub use role::{Role, Trust};
pub use search::{
    BROWSED, CONVERSATIONS, Conversation, Discover, Found, HIDDEN_SOURCES, Hit, HitKind,
    MACHINE_SOURCES, Neighbour, SEARCH_LIMIT, SEARCH_LIMIT_MAX, SearchRequest, SessionFound,
    SessionSearch, ShownMessage, Sort, Tier, Trace, TracePart, TraceWord, WINDOW,
};
pub use session::{
    Ending, EndingOver, Lineage, ListOrder, ListSessions, NewSession, Session, SessionField,
    SessionPatch, SessionView,
};
pub use slot::{Slot, SlotName, SlotSwap};
pub use space::SpaceName;
pub use stats::{Activity, BackupRecord, DayActivity, IndexStats, SessionGroup, Stats};
pub use time::{Span, Timestamp};
pub use title::Title;
pub use token::{NewToken, Token, TokenRole, TokenText, bad_token};
pub use usage::{Usage, UsageKey, UsageRow};
pub use window::WindowFormat;
