//! Recognises secrets: what looks like a password, a key or a card number is never a claim.

use std::sync::LazyLock;

use regex::Regex;

/// Characters from which a word of letters and digits is more likely a key than a name.
const MIN_KEY_CHARS: usize = 20;

/// Digits of a card or account number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=24;

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "passwords?|passwd|passcode|passphrase|passwort|kennwort|contrasena|pin|pincode|\
                 api keys?|api-keys?|apikey|api-schlussel|access keys?|secret keys?|private keys?|\
                 clave|clave de api|clave secreta|secret|geheimnis|credentials?|zugangsdaten|\
                 token|access token|zugangstoken|seed phrase|recovery codes?|cvv|cvc|iban|ssn|\
                 social security number|credit card( number)?|card number|kreditkarte|\
                 kreditkartennummer|tarjeta( de credito)?|numero de tarjeta|tan|2fa code|otp|\
                 wifi-passwort|wlan-passwort|wlan-schlussel";
    Regex::new(&format!("(?:^| )(?:{names})(?: |$)")).ok()
});

/// Whether a folded sentence names a secret or holds one.
pub(crate) fn has_secret(folded: &str) -> bool {
    NAMED.as_ref().is_some_and(|regex| regex.is_match(folded)) || holds_key(folded)
}

fn holds_key(folded: &str) -> bool {
    let mut digits = 0;
    for word in folded.split(' ') {
        let only_digits =
            !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit() || it == b'-');
        digits =
            if only_digits { digits + word.bytes().filter(u8::is_ascii_digit).count() } else { 0 };
        if CARD_DIGITS.contains(&digits) || is_key(word) {
            return true;
        }
    }
    false
}

fn is_key(word: &str) -> bool {
    let prefixes = ["sk-", "pk-", "ghp_", "gho_", "xoxb-", "xoxp-", "akia", "eyj", "glpat-"];
    let has_prefix = prefixes.iter().any(|it| word.starts_with(it)) && word.len() > 12;
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = word.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_+/=".contains(&it));
    has_prefix || is_plain && word.len() >= MIN_KEY_CHARS && letters >= 6 && digits >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised() {
        for text in [
            "my password is hunter2",
            "use ghp_abcdefgh12345678",
            "it is 4111 1111 1111 1111",
            "9f8a7b6c5d4e3f2a1b0c99",
        ] {
            assert!(has_secret(text), "{text}");
        }
        for text in ["i live in porto since 2019", "call 030 1234567", "i use node.js 18.2"] {
            assert!(!has_secret(text), "{text}");
        }
    }
}
