//! Letters that look like others: a small table for Latin, Cyrillic and Greek.

/// Each group: characters, then what they are read as, in the same order. Lower case Cyrillic letters
/// go where their capitals go, so that words of the language fold the same way in either case.
const PAIRS: [(&str, &str); 6] = [
    ("аАвВсСеЕнНһҺіІјЈкКмМоОрРѕЅтТуУхХԁԛԝӏӀ", "aabbcceehhhhiijjkkmmooppssttyyxxdqwll"),
    ("αΑβΒεΕΗιΙκΚΜνΝοΟρΡτΤυΥχΧΖγω", "aabbeehiikkmvnooppttuyxxzyw"),
    ("ıɩɪɡɢɑɴᴏʀᴇᴀᴄᴅᴊᴋᴍᴘꜱᴛᴜᴠᴡʏᴢʟʙʜøØłŁđĐ", "iiigganoreacdjkmpstuvwyzlbhoolldd"),
    ("օհոսցզյᎥ", "ohnugqji"),
    ("“”„‟«»″", "\"\"\"\"\"\"\""),
    ("‘’‚‛′´`‐‑‒–—―−", "''''''`-------"),
];

/// White letters on black squares and circles, which NFKC leaves as they are.
const NEGATIVE_LETTERS: [(u32, u32); 2] = [(0x1F150, 0x1F169), (0x1F170, 0x1F189)];

/// The plain character that one looks like, in lower case, or the character itself.
pub(crate) fn plain(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let code = u32::from(c);
    for (first, last) in NEGATIVE_LETTERS {
        if (first..=last).contains(&code) {
            return char::from_u32(u32::from('a') + code - first).unwrap_or(c);
        }
    }
    let found = PAIRS.iter().find_map(|(from, to)| {
        from.chars().position(|it| it == c).and_then(|at| to.chars().nth(at))
    });
    found.unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_plain_character_for_each() {
        for (from, to) in PAIRS {
            assert_eq!(from.chars().count(), to.chars().count(), "{from} {to}");
            assert!(to.is_ascii(), "{to}");
        }
    }

    #[test]
    fn cyrillic_and_greek_letters_read_as_latin() {
        let read = |text: &str| text.chars().map(plain).collect::<String>();
        assert_eq!(read("ехес"), "exec");
        assert_eq!(read("ΙGΝΟRΕ"), "ignore");
        assert_eq!(read("🅸🅶"), "ig");
    }
}
