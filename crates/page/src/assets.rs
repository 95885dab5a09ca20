//! The files that pages load, compiled in, under names that change with their content. It must not
//! know which page loads what.

use std::sync::LazyLock;

/// A file.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its content.
    pub bytes: &'static [u8],
    /// What it is.
    pub content_type: &'static str,
    /// Its entity tag, with quotation marks.
    pub etag: &'static str,
}

struct Named {
    /// As the source calls it.
    plain: &'static str,
    /// As addresses call it: `page.0123456789ab.css`.
    hashed: String,
    asset: Asset,
}

/// Made once, for the life of the process: what it leaks is what it serves. The style names the
/// font as addresses do.
static FILES: LazyLock<[Named; 8]> = LazyLock::new(|| {
    let font =
        named("newsreader.woff2", include_bytes!("../assets/newsreader.woff2"), "font/woff2");
    let style = include_str!("../assets/page.css").replace(font.plain, &font.hashed);
    [
        named("page.css", style.leak().as_bytes(), "text/css; charset=utf-8"),
        named("memories.css", include_bytes!("../assets/memories.css"), "text/css; charset=utf-8"),
        named("notes.css", include_bytes!("../assets/notes.css"), "text/css; charset=utf-8"),
        named("decide.js", include_bytes!("../assets/decide.js"), "text/javascript; charset=utf-8"),
        named("page.js", include_bytes!("../assets/page.js"), "text/javascript; charset=utf-8"),
        named("theme.js", include_bytes!("../assets/theme.js"), "text/javascript; charset=utf-8"),
        font,
        named("icon.svg", include_bytes!("../assets/icon.svg"), "image/svg+xml"),
    ]
});

fn named(plain: &'static str, bytes: &'static [u8], content_type: &'static str) -> Named {
    let hash: String = blake3::hash(bytes).to_hex().chars().take(12).collect();
    let (stem, extension) = plain.split_once('.').unwrap_or((plain, ""));
    let etag = format!("\"{hash}\"").leak();
    let asset = Asset { bytes, content_type, etag };
    Named { plain, hashed: format!("{stem}.{hash}.{extension}"), asset }
}

/// The file of an address below `/assets/`. Its content never changes: it may be cached for ever.
pub fn asset(path: &str) -> Option<Asset> {
    FILES.iter().find(|file| file.hashed == path).map(|file| file.asset)
}

/// The names below `/assets/`.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.hashed.as_str())
}

/// The address of a file.
pub(crate) fn address(plain: &str) -> String {
    let hashed = FILES.iter().find(|file| file.plain == plain).map(|file| file.hashed.as_str());
    format!("/assets/{}", hashed.unwrap_or(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_files() {
        let files = [
            "page.css",
            "memories.css",
            "notes.css",
            "page.js",
            "decide.js",
            "theme.js",
            "icon.svg",
        ];
        for file in files {
            let address = address(file);
            let asset = asset(address.strip_prefix("/assets/").unwrap()).unwrap();
            assert!(!asset.bytes.is_empty());
            assert!(asset.etag.starts_with('"') && asset.etag.ends_with('"'));
        }
        for other in ["page.css", "", "../Cargo.toml", "page.000000000000.css"] {
            assert!(asset(other).is_none(), "{other}");
        }
    }

    #[test]
    fn the_script_is_small() {
        let size =
            |name: &str| asset(address(name).trim_start_matches("/assets/")).unwrap().bytes.len();
        assert!(size("page.js") < 15_000, "{}", size("page.js"));
        assert!(size("theme.js") < 1_000);
        assert!(size("decide.js") < 3_000);
        assert!(size("memories.css") < 6_000);
        assert!(size("notes.css") < 4_000);
        assert!(size("page.css") < 30_000, "{}", size("page.css"));
    }
}
