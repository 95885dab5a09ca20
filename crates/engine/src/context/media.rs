//! Images, audio and files in a message: their type, the location of their bytes, and the
//! placeholder for media that cannot be sent.

use oneiro_model::MessageId;
use serde_json::{Map, Value};

/// Tokens of an image or an audio clip in a prompt.
const IMAGE: usize = 800;
/// Tokens of a file in a prompt.
const FILE: usize = 1_600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Image,
    Audio,
    File,
}

/// The location of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    Base64(&'a str),
    /// A URL that a provider can fetch: http or https.
    Url(&'a str),
    /// A file id of OpenAI.
    OpenaiFile(&'a str),
    /// A file id of Anthropic.
    AnthropicFile(&'a str),
    /// No location that a provider can use.
    Missing,
}

/// An image, an audio clip or a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Media<'a> {
    pub kind: MediaKind,
    pub mime: Option<&'a str>,
    pub source: Source<'a>,
    pub name: Option<&'a str>,
    /// OpenAI's `detail` of an image.
    pub detail: Option<&'a str>,
}

impl<'a> Media<'a> {
    /// Reads a content part of OpenAI, a content block of Anthropic or a content item of MCP;
    /// `None` for anything else, including plain-text documents.
    pub(super) fn of(block: &'a Map<String, Value>) -> Option<Media<'a>> {
        let kind = block.get("type").and_then(Value::as_str)?;
        match kind {
            "image_url" | "input_image" => Some(openai_image(block)),
            "input_audio" | "audio" => Some(audio(block)),
            "file" | "input_file" => Some(openai_file(block)),
            "image" => Some(sourced(block, MediaKind::Image)),
            "document" => match block.get("source").and_then(|source| text(source, "type")) {
                Some("text" | "content") => None,
                _ => Some(sourced(block, MediaKind::File)),
            },
            "resource" => {
                let resource = block.get("resource")?;
                let data = text(resource, "blob")?;
                let media = Media::new(MediaKind::File, base64(data)).mime(resource, "mimeType");
                Some(Media { name: text(resource, "uri"), ..media })
            }
            _ => None,
        }
    }

    fn new(kind: MediaKind, source: Source<'a>) -> Media<'a> {
        Media { kind, mime: None, source, name: None, detail: None }
    }

    fn from_url(kind: MediaKind, url: &'a str) -> Media<'a> {
        match data_url(url) {
            Some((mime, data)) => Media { mime, ..Media::new(kind, base64(data)) },
            None => Media::new(kind, fetched(url)),
        }
    }

    fn mime(mut self, of: &'a Value, name: &str) -> Media<'a> {
        self.mime = text(of, name).or(self.mime);
        self
    }

    /// Tokens in a prompt.
    pub(super) fn tokens(&self) -> usize {
        match self.kind {
            MediaKind::Image | MediaKind::Audio => IMAGE,
            MediaKind::File => FILE,
        }
    }

    /// The placeholder: `[image/png, 48 kB; message 1234]`.
    pub(super) fn handle(&self, message: MessageId) -> String {
        let sort = match (self.mime.filter(|mime| is_plain(mime)), self.kind) {
            (Some(mime), _) => mime,
            (None, MediaKind::Image) => "image",
            (None, MediaKind::Audio) => "audio",
            (None, MediaKind::File) => "file",
        };
        let name = self.name.filter(|name| is_plain(name)).map(|name| format!("{name}, "));
        let name = name.unwrap_or_default();
        let bytes = match self.source {
            Source::Base64(data) => format!(", {}", size(data)),
            Source::Url(url) if is_plain(url) => format!(", {url}"),
            _ => String::new(),
        };
        format!("[{name}{sort}{bytes}; message {message}]")
    }
}

fn openai_image(block: &Map<String, Value>) -> Media<'_> {
    let inner = block.get("image_url");
    let url = inner.and_then(|inner| inner.as_str().or_else(|| text(inner, "url")));
    let detail = inner.and_then(|inner| text(inner, "detail"));
    let detail = detail.or_else(|| block.get("detail").and_then(Value::as_str));
    let file = block.get("file_id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let media = match (url, file) {
        (Some(url), _) => Media::from_url(MediaKind::Image, url),
        (None, Some(id)) => Media::new(MediaKind::Image, Source::OpenaiFile(id)),
        (None, None) => Media::new(MediaKind::Image, Source::Missing),
    };
    Media { detail, ..media }
}

fn audio(block: &Map<String, Value>) -> Media<'_> {
    match block.get("input_audio").or(block.get("audio")) {
        Some(inner) => {
            let data = text(inner, "data").unwrap_or_default();
            let mime = match text(inner, "format") {
                Some("wav") => Some("audio/wav"),
                Some("mp3") => Some("audio/mpeg"),
                _ => None,
            };
            Media { mime, ..Media::new(MediaKind::Audio, base64(data)) }
        }
        None => sourced(block, MediaKind::Audio),
    }
}

fn openai_file(block: &Map<String, Value>) -> Media<'_> {
    let inner = block.get("file").and_then(Value::as_object).unwrap_or(block);
    let field = |name| inner.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let media = match (field("file_data"), field("file_id"), field("file_url")) {
        (Some(data), _, _) if data.starts_with("data:") => Media::from_url(MediaKind::File, data),
        (Some(data), _, _) => Media::new(MediaKind::File, base64(data)),
        (None, Some(id), _) => Media::new(MediaKind::File, Source::OpenaiFile(id)),
        (None, None, Some(url)) => Media::new(MediaKind::File, fetched(url)),
        (None, None, None) => Media::new(MediaKind::File, Source::Missing),
    };
    Media { name: field("filename"), ..media }
}

/// A block of Anthropic with its `source`, or an item of MCP with its `data`.
fn sourced<'a>(block: &'a Map<String, Value>, kind: MediaKind) -> Media<'a> {
    let field = |name| block.get(name).and_then(Value::as_str);
    let media = match block.get("source") {
        Some(source) => {
            let source_text = |name| text(source, name).filter(|text| !text.is_empty());
            let media = match (source_text("data"), source_text("url"), source_text("file_id")) {
                (Some(data), _, _) => Media::new(kind, base64(data)),
                (None, Some(url), _) => Media::from_url(kind, url),
                (None, None, Some(id)) => Media::new(kind, Source::AnthropicFile(id)),
                (None, None, None) => Media::new(kind, Source::Missing),
            };
            media.mime(source, "media_type")
        }
        None => match (field("data"), field("url").or(field("image"))) {
            (Some(data), _) => {
                let mime = field("mimeType").or(field("media_type"));
                Media { mime, ..Media::new(kind, base64(data)) }
            }
            (None, Some(url)) => Media::from_url(kind, url),
            (None, None) => Media::new(kind, Source::Missing),
        },
    };
    Media { name: field("title"), ..media }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn base64(data: &str) -> Source<'_> {
    if data.is_empty() { Source::Missing } else { Source::Base64(data) }
}

fn fetched(url: &str) -> Source<'_> {
    if url.starts_with("http://") || url.starts_with("https://") {
        Source::Url(url)
    } else {
        Source::Missing
    }
}

/// The media type and the base64 of a data URL.
fn data_url(url: &str) -> Option<(Option<&str>, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let head = head.strip_suffix(";base64")?;
    let mime = head.split(';').next().filter(|mime| !mime.is_empty());
    Some((mime, data))
}

/// Whether a text can be part of a placeholder: one line, without its closing bracket.
fn is_plain(text: &str) -> bool {
    let spoils = |c: char| c.is_control() || matches!(c, '[' | ']');
    !text.is_empty() && text.len() <= 200 && !text.contains(spoils)
}

/// The decoded size, for people.
pub(super) fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", (bytes + 500) / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_dialect_is_read_and_named() {
        let data = "A".repeat(64_000);
        for (block, want) in [
            (
                json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}}),
                "[image/png, 48 kB; message 7]",
            ),
            (
                json!({"type": "input_image", "image_url": "https://a.example/b.png"}),
                "[image, https://a.example/b.png; message 7]",
            ),
            (
                json!({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
                "[image; message 7]",
            ),
            (
                json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
                "[audio/wav, 3 B; message 7]",
            ),
            (
                json!({"type": "file", "file": {"filename": "a.pdf",
                    "file_data": "data:application/pdf;base64,AAAA"}}),
                "[a.pdf, application/pdf, 3 B; message 7]",
            ),
            (json!({"type": "file", "file": {"file_id": "file-1"}}), "[file; message 7]"),
            (
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif",
                    "data": "A".repeat(4_000_000)}}),
                "[image/gif, 3.0 MB; message 7]",
            ),
            (
                json!({"type": "document", "title": "a]\nb", "source": {"type": "base64",
                    "media_type": "application/pdf", "data": "AA=="}}),
                "[application/pdf, 1 B; message 7]",
            ),
            (
                json!({"type": "image", "data": "AAAA", "mimeType": "image/webp"}),
                "[image/webp, 3 B; message 7]",
            ),
            (json!({"type": "image"}), "[image; message 7]"),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}}),
                "[a:b, file, 3 B; message 7]",
            ),
        ] {
            let media = Media::of(block.as_object().unwrap()).unwrap();
            assert_eq!(media.handle(MessageId(7)), want);
        }
    }

    #[test]
    fn what_has_words_is_not_media() {
        for block in [
            json!({"type": "text", "text": "a"}),
            json!({"type": "document", "source": {"type": "text", "data": "a"}}),
            json!({"type": "resource", "resource": {"text": "a"}}),
            json!({"text": "a"}),
        ] {
            assert!(Media::of(block.as_object().unwrap()).is_none(), "{block}");
        }
    }
}
