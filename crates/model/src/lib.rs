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
mod dream;
mod error;
mod harness;
mod hit_groups;
pub mod host;
mod id;
mod interaction;
mod job;
pub mod json;
mod memory;
mod memory_requests;
mod memory_stats;
mod message;
mod message_ref;
mod mount;
mod nearest;
mod note;
mod operation;
mod pack;
mod page;
mod part;
mod pattern;
mod private;
mod project;
mod query;
mod remedy;
mod retention;
mod revision;
mod role;
mod search;
mod session;
mod session_search;
mod slot;
mod space;
mod stats;
mod thousands;
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
pub use dream::{
    CountedEvidence, CountedKind, Dream, DreamCandidate, DreamCounts, DreamDecision, DreamDetail,
    DreamEvidence, DreamFinding, DreamFindingKind, DreamGate, DreamInputs, DreamLine, DreamMode,
    DreamNote, DreamOutcome, DreamPreset, DreamPromotion, DreamRequest, DreamRun, DreamStatus,
    DreamThresholds, DreamTrigger, DreamVerdict, DreamWeights, ExplainedCandidate, HOLDS_STILL,
    LeftOperation, ListCandidates, ReplayedDream, SCORE_STEPS, ScheduleDreams, ScoreParts,
    UndoDream, UndoneDream, VerdictCount,
};
pub use error::{Error, ErrorKind, KINDS, KindRow, Result};
pub use harness::HarnessSpan;
pub use hit_groups::{HitGroup, Passage, PassageMessage, group_hits};
pub use id::{
    CandidateId, DistrustId, DreamId, GroupId, InteractionId, JobId, MemoryId, MessageId, MountId,
    OperationId, PackId, RevisionId, SessionId, StateId, SummaryId, TokenId,
};
pub use interaction::{
    CapturedInteraction, ExtractRequest, Extracted, INTERACTIONS_MAX, Interaction,
    ListInteractions, NewInteraction, ReinforcedMemory,
};
pub use job::{Job, JobNeed, JobState, NewJob, Ran};
pub use memory::{
    CONFIDENCE_STEPS, ChangedMemories, ChangedMemory, Citation, ConfidenceExplained,
    ConfidencePart, DAILY_DECAY, DAYS_BEFORE_DECAY, DECAYED_CONFIDENCE, Memory, MemoryHistory,
    MemoryKind, MemoryStatus, MemoryView, Reinforced, RelatedMemory, Relation, Remembered, Signal,
    SignalCount, SignalKind, USE_CONFIDENCE, Why, WhyKind,
};
pub use memory_requests::{
    DistrustRequest, ForgetRequest, ListMemories, MEMORY_CHARS_MAX, MEMORY_FIELD_CHARS_MAX,
    MemoryPatch, MergeRequest, NewMemory, QUOTE_CHARS_MAX, ReasonRequest, ReinforceRequest,
    ReviewAction, ReviewRequest, ShowMemory, SupersedeRequest, WhyRequest,
};
pub use memory_stats::{MemoryStats, MemoryStatsRequest, MutedMemory, UnmuteRequest};
pub use message::{
    AppendOptions, Appended, BATCH_MAX, KeptMessage, ListMessages, Message, MessageCounts,
    NewMessage, ShowSession, Visibility,
};
pub use message_ref::{COMPLETE_MESSAGE_PATTERN, MessageRef};
pub use mount::{
    FileConflict, FileProblem, Layout, Mount, MountNotes, MountState, SyncedMount, UnmountNotes,
};
pub use nearest::{nearest_names, suggest_names};
pub use note::{
    ChangedNote, DeleteNote, EditAction, EditNote, EntryStyle, ListNotes, NOTE_BYTES_MAX, Note,
    NoteBlock, NoteEdit, NoteInfo, NoteName, NotePrompt, NotePromptRequest,
    REVISION_MESSAGE_CHARS_MAX, WriteNote,
};
pub use operation::{ListOperations, Operation, OperationVerb, UndoTarget, Undone};
pub use pack::{
    Band, ExplainedLine, ExplainedPack, GivenPack, ListPacks, OmitReason, PACK_BUDGET, PACKS_MAX,
    Pack, PackItem, PackKind, PackOmission, PackRequest, WhyPackRequest,
};
pub use page::{Cursor, Page, PageOf};
pub use part::{Part, Searchable, parts, searchable, searchable_split};
pub use pattern::SessionPattern;
pub use private::{PRIVATE_MARKER, withhold};
pub use project::{
    Distrust, DistrustKind, EndState, ListState, PROJECT_CHARS_MAX, ProjectRequest, ProjectState,
    RegisteredProject, STATE_CHARS_MAX, StateKind, StateRequest, check_project_name,
};
pub use query::{Expr, Filters, Query};
pub use remedy::{Remedy, Surface};
pub use retention::{
    BranchRequest, Deleted, EraseRequest, EraseTarget, Erased, ErasureProof, Imported,
    PruneRequest, Pruned, RestoreRequest, Restored, RewindRequest, Rewound,
};
pub use revision::{
    BlameLine, DiffNotes, ListRevisions, NoteDiff, NotesDiff, RestoreNotes, Revision,
    RevisionDetail, ShowRevision,
};
pub use role::{Role, Trust};
pub use search::{
    AnyHit, AskedMemories, Confidence, Found, Hit, HitKind, MemoryHit, NEIGHBOURS_MAX, Neighbour,
    NoteHit, SEARCH_LIMIT, SEARCH_LIMIT_MAX, SearchRequest, Sort, Tier, Trace, TracePart,
    TraceWord,
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
pub use thousands::thousands;
pub use time::{Span, Timestamp};
pub use title::Title;
pub use token::{NewToken, Token, TokenRole, TokenText, bad_token};
pub use usage::{NewUsage, Usage, UsageKey, UsageRow};
pub use window::WindowFormat;
