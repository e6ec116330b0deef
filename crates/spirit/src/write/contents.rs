//! What a document that is being added consists of, and what it is called.

/// How a document that is being added is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Called<'a> {
    /// As the caller says.
    By(&'a str),
    /// By the number of documents accepted before: drawn with the batch, for an index of one executor.
    Next,
    /// By a number that was drawn before, since it decided the executor.
    Number(u64),
}

impl<'a> From<Option<&'a str>> for Called<'a> {
    fn from(key: Option<&'a str>) -> Called<'a> {
        key.map_or(Called::Next, Called::By)
    }
}

/// What a document consists of, besides what it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) text: &'a str,
    /// The values of its fields, [encoded](spirit_schema::encoded).
    pub(crate) fields: &'a [u8],
    /// Where the text can be read again, if the log need not hold it.
    pub(crate) place: Option<&'a [u8]>,
}

impl<'a> Contents<'a> {
    /// A text and nothing else.
    #[inline(always)]
    pub(crate) fn text(text: &'a str) -> Contents<'a> {
        Contents { text, fields: &[], place: None }
    }
}
