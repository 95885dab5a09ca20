//! Numbers of tokens as people type them: 4000, 8k, 1.5M. It must not know what they are for.

/// Reads a number of tokens; `k` is a thousand, `M` a million.
pub fn parse(text: &str) -> Result<usize, String> {
    let wrong = || format!("{text:?} is not a number of tokens: write 4000, 8k or 1M");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at).unwrap_or_default(), 1_000),
        Some((at, 'm' | 'M')) => (text.get(..at).unwrap_or_default(), 1_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let unfinished = digits.contains('.') && fraction.is_empty();
    if whole.is_empty() || unfinished || !is_number(whole) || !is_number(fraction) {
        return Err(wrong());
    }
    let mut tokens =
        whole.parse::<usize>().ok().and_then(|whole| whole.checked_mul(unit)).ok_or_else(wrong)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        if !place.is_multiple_of(10) {
            return Err(format!("{text:?} is not a whole number of tokens"));
        }
        place /= 10;
        tokens = tokens.checked_add(usize::from(digit - b'0') * place).ok_or_else(wrong)?;
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn thousands_and_millions_may_be_letters() {
        for (text, tokens) in
            [("0", 0), ("4000", 4_000), ("8k", 8_000), ("100K", 100_000), ("1M", 1_000_000)]
        {
            assert_eq!(parse(text).unwrap(), tokens, "{text}");
        }
        assert_eq!(parse("1.5M").unwrap(), 1_500_000);
        assert_eq!(parse("0.125k").unwrap(), 125);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "k", "-1", "+1", "8kk", "8 k", "1e6", "1.k", ".5k", "1.5", "1.0005k", "8g"]
        {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse("99999999999999999999M").is_err());
    }
}
