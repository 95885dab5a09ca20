//! The words of Oneiro: ids, time, roles, sessions, messages, jobs, requests and answers, and the
//! one public [`Error`].

#[macro_use]
mod named;

mod actor;
mod capability;
mod capture;
mod change;
mod context;
pub mod contract;
mod error;
mod harness;
mod hit_groups;
pub mod host;
mod id;
mod job;
pub mod json;
mod message;
mod message_ref;
mod nearest;
mod page;
mod part;
mod pattern;
mod private;
mod query;
mod remedy;
mod retention;
mod role;
mod search;
mod session;
mod session_search;
mod slot;
mod space;
mod stats;
mod time;
mod title;
mod token;
mod usage;
mod window;

pub use actor::{Actor, ActorKind, ActorSurface};
pub use capability::{CAPABILITIES, Capability};
pub use capture::{
    CapturePause, CaptureProject, CaptureStatus, CaptureSwitch, FOLDER_MAX, PauseRequest, Project,
    ProjectChoice, StoredSecret,
};
pub use change::{
    Change, ChangeKind, ChangeMark, EventsRequest, ExportRequest, SeenPart, Subject, SubjectKind,
};
pub use context::{
    BreakReason, CompactRequest, Compacted, ContextScope, EXPAND_TOKENS, ExpandOptions,
    ExpandRequest, ExpandWhat, ExpandWithin, Expanded, GrepRequest, Grepped, HistoryRequest,
    ItemPlace, LookedUp, LookupRequest, NewSummary, Omitted, PrefixBreak, SessionDigest,
    SessionSummary, SplitRequest, Summary, SummaryHit, SummaryKind, SummaryLevel, TOKENS_MAX,
    WINDOW_BUDGET, Window, WindowItem, WindowRequest,
};
pub use error::{Error, ErrorKind, KINDS, KindRow, Result};
pub use harness::HarnessSpan;
pub use hit_groups::{HitGroup, Passage, PassageMessage, group_hits};
pub use id::{JobId, MessageId, SessionId, SummaryId, TokenId};
pub use job::{Job, JobNeed, JobState, NewJob, Ran};
pub use message::{
    AppendOptions, Appended, BATCH_MAX, KeptMessage, ListMessages, Message, MessageCounts,
    NewMessage, ShowSession, Visibility,
};
pub use message_ref::{COMPLETE_MESSAGE_PATTERN, MessageRef};
pub use nearest::{nearest_names, suggest_names};
pub use page::{Cursor, Page, PageOf};
pub use part::{Part, Searchable, parts, searchable, searchable_split};
pub use pattern::SessionPattern;
pub use private::{PRIVATE_MARKER, withhold};
pub use query::{Expr, Filters, Query};
pub use remedy::{Remedy, Surface};
pub use retention::{
    BranchRequest, Deleted, EraseRequest, EraseTarget, Erased, ErasureProof, Imported,
    PruneRequest, Pruned, RestoreRequest, Restored, RewindRequest, Rewound,
};
pub use role::{Role, Trust};
pub use search::{
    Found, Hit, HitKind, NEIGHBOURS_MAX, Neighbour, SEARCH_LIMIT, SEARCH_LIMIT_MAX, SearchRequest,
    Sort, Tier, Trace, TracePart, TraceWord,
};
pub use session::{
    ArchivedFilter, Ending, EndingOver, LIST_MAX, Lineage, ListOrder, ListSessions, NewSession,
    Session, SessionPatch, SessionView,
};
pub use session_search::{
    BROWSE_LIMIT, CONVERSATION_LIMIT, Conversation, Discover, HIDDEN_SOURCES, LimitRange,
    MACHINE_SOURCES, MESSAGE_WINDOW, SessionFound, SessionSearch, SessionSearchRequest,
    ShownMessage,
};
pub use slot::{Slot, SlotName, SlotSwap};
pub use space::{DeletedSpace, SpaceInfo, SpaceName, SpaceUse};
pub use stats::{
    Activity, ActivityRequest, BackupMade, BackupRecord, BackupRequest, DayActivity, IndexStats,
    SessionGroup, Stats,
};
pub use time::{Span, Timestamp};
pub use title::Title;
pub use token::{NewToken, Token, TokenRole, TokenText, bad_token};
pub use usage::{NewUsage, Usage, UsageKey, UsageRow};
pub use window::WindowFormat;
