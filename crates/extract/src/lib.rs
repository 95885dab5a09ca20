//! Summaries without a model: of a conversation, the sentences that matter most, in order, within a
//! number of tokens. It owns what matters; it must not know stores, sessions or models.

/// Something said, as the extract sees it.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// Who said it, as the extract names them: `user`, `assistant`, `tool bash`, or a name.
    pub speaker: &'a str,
    /// The words.
    pub text: &'a str,
}

/// What to make an extract of.
pub struct ExtractRequest<'a> {
    /// What was said, in order.
    pub said: &'a [Said<'a>],
    /// The most tokens it may have.
    pub target: usize,
    /// Words it should be about, when it answers a question.
    pub about: Option<&'a str>,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> usize,
}

/// The sentences that matter most, within the target.
pub fn extract(request: &ExtractRequest<'_>) -> String {
    let mut out = String::new();
    for said in request.said {
        let line = format!("{}: {}\n", said.speaker, said.text);
        if (request.count)(&out) + (request.count)(&line) > request.target {
            break;
        }
        out.push_str(&line);
    }
    out.trim_end().to_owned()
}
