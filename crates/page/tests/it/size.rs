//! A page with all that it loads is small, whatever is in it.

use crate::states::all;
use oneiro_page::assets;

const BUDGET: usize = 150_000;

#[test]
fn every_page_is_small_with_all_that_it_loads() {
    let size = |name: &str| assets::asset(name).unwrap().bytes.len();
    // Every page has the font, which its style names.
    let font: usize = assets::names().filter(|name| name.ends_with(".woff2")).map(size).sum();
    let loaded = |html: &str| -> usize {
        let names = html
            .match_indices("\"/assets/")
            .map(|(at, start)| html[at + start.len()..].split('"').next().unwrap());
        names.filter(|name| !name.ends_with(".woff2")).map(size).sum::<usize>() + font
    };
    // A message alone is shown whole: that is what its page is for.
    let pages = all().into_iter().filter(|(page, _)| *page != "hostile-message");
    let large = pages
        .map(|(page, html)| (page, html.len() + loaded(&html)))
        .filter(|(_, it)| *it >= BUDGET);
    assert_eq!(large.collect::<Vec<_>>(), []);
}

#[test]
fn pages_load_only_files_that_there_are() {
    for (page, html) in all() {
        for (at, _) in html.match_indices("\"/assets/") {
            let name = html[at + "\"/assets/".len()..].split('"').next().unwrap();
            assert!(assets::asset(name).is_some(), "{page}: {name}");
        }
    }
    let style = assets::names().find(|name| name.ends_with(".css")).unwrap();
    let style = String::from_utf8_lossy(assets::asset(style).unwrap().bytes).into_owned();
    let font = style.split("url(\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(assets::asset(font).is_some(), "{font}");
}
