//! Converts scenes into sessions for an import, with times, external ids, OpenAI tool calls, tokens and
//! costs.

use crate::bulk_text;
use crate::calendar::Calendar;
use crate::prompts;
use crate::scene::{Call, Gap, Line, Scene};
use oneiro::{Error, Lineage, Result, Role, SessionId, Span, Timestamp, Visibility};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The metadata key that marks sessions of the demonstration.
pub(crate) const DEMO_KEY: &str = "demo";

/// A session, ready to be imported.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// Its id.
    pub(crate) id: SessionId,
    /// Its parent.
    pub(crate) parent: Option<(SessionId, Lineage)>,
    /// Every field but its messages.
    pub(crate) fields: Map<String, Value>,
    /// Its messages, in order.
    pub(crate) messages: Vec<Value>,
    /// The time of its last message.
    pub(crate) last_at: Timestamp,
}

/// Stages all scenes, the most recently active last.
pub(crate) fn stage(scenes: &[Scene], calendar: &Calendar, seed: u64) -> Result<Vec<Staged>> {
    let mut spoken: HashMap<&str, Vec<Value>> = HashMap::new();
    let mut staged = Vec::new();
    for scene in scenes {
        let shared = match &scene.parent {
            Some(parent) => {
                let add_line = spoken.get(parent.id.as_str()).ok_or_else(|| {
                    Error::internal(format!("{} comes before its parent {}", scene.id, parent.id))
                })?;
                add_line.iter().take(parent.shared).cloned().collect()
            }
            None => Vec::new(),
        };
        let session = Stage::new(scene, calendar, seed).session(shared)?;
        spoken.insert(&scene.id, session.messages.clone());
        staged.push(session);
    }
    staged.sort_by_key(|session| session.last_at);
    Ok(staged)
}

struct Stage<'s> {
    scene: &'s Scene,
    calendar: &'s Calendar,
    rng: fastrand::Rng,
    seed: u64,
    calls: usize,
    waiting: Vec<(String, String)>,
    used: UsageCounter,
}

impl<'s> Stage<'s> {
    fn new(scene: &'s Scene, calendar: &'s Calendar, seed: u64) -> Stage<'s> {
        // Each session has its own random numbers, so that a new session changes no other.
        let own = scene
            .id
            .bytes()
            .fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        let rng = fastrand::Rng::with_seed(own);
        Stage {
            scene,
            calendar,
            rng,
            seed,
            calls: 0,
            waiting: Vec::new(),
            used: UsageCounter::default(),
        }
    }

    fn session(mut self, shared: Vec<Value>) -> Result<Staged> {
        let scene = self.scene;
        let (started_at, times) = self.times();
        let (prompt, tools) = prompts::prompt(&scene.prompt)?;
        self.used.context = tokens(prompt) + tools;
        let mut messages = shared;
        for (line, at) in scene.lines.iter().zip(&times) {
            let number = messages.len() + 1;
            messages.push(self.message(line, *at, number));
        }
        let last_at = times.last().copied().unwrap_or(started_at);
        let id = SessionId::new(scene.id.clone())?;
        let parent = scene.parent.as_ref();
        let parent = parent.map(|parent| Ok((SessionId::new(parent.id.clone())?, parent.lineage)));
        let parent = parent.transpose()?;
        let fields = self.fields(prompt, started_at, last_at);
        Ok(Staged { id, parent, fields, messages, last_at })
    }

    /// The time of each line. A session that would reach into the future starts earlier.
    fn times(&mut self) -> (Timestamp, Vec<Timestamp>) {
        let start = self.calendar.at(self.scene.start);
        let mut at = start;
        let mut times = Vec::new();
        for line in &self.scene.lines {
            at = match line.gap {
                Gap::At(start) => at.max(self.calendar.at(start)),
                Gap::Pause(minutes) => at.plus(Span::seconds(minutes * 60)),
                Gap::Soon => at,
            };
            at = at.plus(Span::millis(self.writing_time(line)));
            times.push(at);
        }
        let latest = self.calendar.now().minus(Span::seconds(60));
        let over = Span::millis((at.micros() - latest.micros()).max(0) / 1_000);
        times.iter_mut().for_each(|at| *at = at.minus(over));
        (start.minus(over), times)
    }

    /// The milliseconds that a line takes to write.
    fn writing_time(&mut self, line: &Line) -> i64 {
        let letters = i64::try_from(line.text.chars().count()).unwrap_or_default();
        match line.role {
            Role::User => self.rng.i64(15_000..90_000) + letters * 120,
            Role::Tool => self.rng.i64(200..6_000),
            _ => self.rng.i64(2_000..9_000) + letters * 15,
        }
    }

    fn message(&mut self, line: &Line, at: Timestamp, number: usize) -> Value {
        let mut message = Map::new();
        let mut put = |name: &str, value: Value| message.insert(name.to_owned(), value);
        put("id", json!(number));
        put("role", json!(line.role.as_str()));
        if let Some(name) = &line.name {
            put("name", json!(name));
        }
        let text = bulk_text::expand_bulk(&self.calendar.expand_dates(&line.text), &mut self.rng);
        let content =
            if text.is_empty() && !line.calls.is_empty() { Value::Null } else { json!(text) };
        put("content", content);
        let reasoning = line.reasoning.as_deref().map(|text| self.calendar.expand_dates(text));
        if let Some(reasoning) = &reasoning {
            put("reasoning", json!(reasoning));
        }
        if !line.calls.is_empty() {
            put("tool_calls", self.calls(&line.calls));
        }
        if line.role == Role::Tool && !self.waiting.is_empty() {
            let (call, tool) = self.waiting.remove(0);
            put("tool_call_id", json!(call));
            put("name", json!(tool));
        }
        put("at", json!(at));
        put("external_id", json!(format!("{}:{number:03}", self.scene.id)));
        if line.visibility != Visibility::Live {
            put("visibility", json!(line.visibility));
        }
        self.used.add_line(line, &text, reasoning.as_deref());
        Value::Object(message)
    }

    fn calls(&mut self, calls: &[Call]) -> Value {
        let mut made = Vec::new();
        for call in calls {
            self.calls += 1;
            let id = format!("call_{}_{}", self.scene.id, self.calls);
            let arguments = self.calendar.expand_dates(&call.arguments);
            made.push(json!({
                "id": id, "type": "function",
                "function": {"name": call.tool, "arguments": arguments},
            }));
            self.waiting.push((id, call.tool.clone()));
        }
        Value::Array(made)
    }

    fn fields(
        &self,
        prompt: &str,
        started_at: Timestamp,
        last_at: Timestamp,
    ) -> Map<String, Value> {
        let scene = self.scene;
        let price = Price::of(&scene.model);
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("source", json!(scene.source));
        put("user_id", json!("mira"));
        put("model", json!(scene.model));
        if let Some(effort) = price.effort {
            put("model_config", json!({"reasoning_effort": effort}));
        }
        put("system_prompt", json!(prompt));
        put("title", json!(scene.title));
        put("project", json!(scene.project));
        put("cwd", json!(scene.cwd));
        put("metadata", json!({DEMO_KEY: {"until": self.calendar.now(), "seed": self.seed}}));
        put("started_at", json!(started_at));
        put("last_active_at", json!(last_at));
        if let Some(reason) = &scene.end {
            put("end_reason", json!(reason));
            put("ended_at", json!(last_at.plus(Span::seconds(20))));
        }
        put("archived", json!(scene.archived));
        let rewound = |line: &&Line| line.visibility == Visibility::Rewound;
        if scene.lines.iter().any(|line| rewound(&line)) {
            put("rewind_count", json!(1));
            let shared = scene.parent.as_ref().map_or(0, |parent| parent.shared);
            let rows = scene.lines.iter().zip(shared + 1..).filter(|(line, _)| rewound(line));
            put("rewinds", rows.map(|(_, n)| json!({"message": n, "rewind": 1})).collect());
        }
        let mut account = self.used.account(&price);
        account.iter().for_each(|(name, value)| {
            put(if name == "api_calls" { "api_call_count" } else { name }, value.clone());
        });
        let key = json!({
            "model": scene.model, "provider": price.provider, "billing_mode": "api",
            "first_at": started_at, "last_at": last_at,
        });
        account.extend(key.as_object().cloned().unwrap_or_default());
        // Titles are made by a small model with its own account.
        let title = json!({
            "model": "claude-haiku-4-5", "provider": "anthropic", "billing_mode": "api",
            "task": "title", "api_calls": 1, "input_tokens": 420, "output_tokens": 11,
            "estimated_cost_usd": 0.000475, "actual_cost_usd": 0.000475,
            "first_at": started_at, "last_at": started_at,
        });
        put("usage", json!([account, title]));
        fields
    }
}

/// The approximate number of tokens of a text.
fn tokens(text: &str) -> i64 {
    i64::try_from(text.chars().count().div_ceil(4)).unwrap_or(i64::MAX)
}

/// The usage of a session so far.
#[derive(Default)]
struct UsageCounter {
    calls: i64,
    context: i64,
    cached: i64,
    input: i64,
    read: i64,
    output: i64,
    reasoning: i64,
}

impl UsageCounter {
    /// Every answer reads all previous messages; those of the previous answer are cached.
    fn add_line(&mut self, line: &Line, text: &str, reasoning: Option<&str>) {
        let calls: i64 = line.calls.iter().map(|call| tokens(&call.arguments) + 12).sum();
        let spoken = tokens(text) + calls;
        if line.role == Role::Assistant {
            self.calls += 1;
            self.input += self.context - self.cached;
            self.read += self.cached;
            self.cached = self.context;
            let thought = reasoning.map_or(0, tokens);
            self.reasoning += thought;
            self.output += spoken + thought;
        }
        self.context += spoken;
    }

    fn account(&self, price: &Price) -> Map<String, Value> {
        let dollars = |tokens: i64, per_million: f64| tokens as f64 * per_million / 1e6;
        let cost = dollars(self.input, price.input)
            + dollars(self.read, price.input / 10.0)
            + dollars(self.output, price.output);
        // Rounded to micro-dollars, so that sums add up.
        let cost = (cost * 1e6).round() / 1e6;
        let account = json!({
            "api_calls": self.calls,
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_tokens": self.read,
            "cache_write_tokens": 0,
            "reasoning_tokens": self.reasoning,
            "estimated_cost_usd": cost,
            "actual_cost_usd": cost,
        });
        account.as_object().cloned().unwrap_or_default()
    }
}

/// The price of a model, in dollars per million tokens.
struct Price {
    provider: &'static str,
    input: f64,
    output: f64,
    effort: Option<&'static str>,
}

impl Price {
    fn of(model: &str) -> Price {
        let (provider, input, output, effort) = match model {
            "gpt-5-codex" => ("openai", 1.25, 10.0, Some("medium")),
            "gpt-5-mini" => ("openai", 0.25, 2.0, Some("low")),
            "claude-opus-4-1" => ("anthropic", 15.0, 75.0, None),
            "claude-haiku-4-5" => ("anthropic", 1.0, 5.0, None),
            model if model.starts_with("claude") => ("anthropic", 3.0, 15.0, None),
            _ => ("local", 0.0, 0.0, None),
        };
        Price { provider, input, output, effort }
    }
}
