//! Where a page of hits begins: its offset and, if texts are read for a pattern, the message before
//! which reading continues.

use oneiro_model::Cursor;

/// Hits that one scan may yield; a scan stops before it yields more.
const HITS_PER_SCAN: i64 = 1 << 12;

/// Cursor orders from here on encode a scan position. Cursors are never negative, because `-1`
/// would read as a flag on the command line.
const SCAN_ORDER_BASE: i64 = 1 << 40;

/// Largest offset of a page; a cursor beyond it is past the end.
const OFFSET_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PageStart {
    /// Hits before the page.
    pub(super) offset: usize,
    /// Only messages before this one are read for a pattern.
    pub(super) before: Option<i64>,
    /// The newest message at the time of the first page.
    pub(super) last: Option<i64>,
}

impl PageStart {
    pub(super) fn of(cursor: Option<Cursor>) -> PageStart {
        let Some(cursor) = cursor else { return PageStart::default() };
        let last = Some(cursor.key);
        let packed = cursor.order.saturating_sub(SCAN_ORDER_BASE);
        let offset = |order: i64| usize::try_from(order).unwrap_or(0).min(OFFSET_MAX);
        if packed >= 0 {
            PageStart {
                offset: offset(packed % HITS_PER_SCAN),
                before: Some(packed / HITS_PER_SCAN),
                last,
            }
        } else {
            PageStart { offset: offset(cursor.order), before: None, last }
        }
    }

    pub(super) fn cursor(self, last: i64) -> Cursor {
        let offset = self.offset as i64;
        let order = match self.before {
            None => offset,
            Some(before) => {
                SCAN_ORDER_BASE + before * HITS_PER_SCAN + offset.min(HITS_PER_SCAN - 1)
            }
        };
        Cursor { order, key: last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_its_cursor() {
        for (offset, before) in [(0, None), (70, None), (0, Some(1)), (499, Some(1_000_000))] {
            let page_start = PageStart { offset, before, last: Some(9) };
            assert_eq!(PageStart::of(Some(page_start.cursor(9))), page_start);
        }
        assert_eq!(PageStart::of(None), PageStart::default());
        // A made-up cursor is accepted.
        for order in [i64::MIN, -1, i64::MAX] {
            PageStart::of(Some(Cursor { order, key: -1 }));
        }
    }
}
