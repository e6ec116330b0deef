//! A page: its key, its address, when it was read, and its text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::Markup;
use super::http::{Response, header, split};

/// Bytes of a page in which its encoding is looked for, as browsers do.
const LOOKED_AT: usize = 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) key: String,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    /// The title, if there is one, and the text.
    pub(crate) text: String,
}

/// Returns the page of a record of a web archive. None if it holds no text, or no page was there to be
/// read. Fails with what cannot be read.
pub(crate) fn of_warc(record: &[u8]) -> Result<Option<Page>, String> {
    let (head, block) = split(record);
    let of = |name| header(head, name).map(Cow::into_owned);
    let text = match of("WARC-Type").as_deref() {
        Some("conversion") if of("Content-Type").is_none_or(|kind| kind.starts_with("text/")) => {
            Some(String::from_utf8_lossy(block).into_owned())
        }
        Some("response") if of("Content-Type").is_none_or(|kind| is_http(&kind)) => {
            of_response(block)?
        }
        _ => None,
    };
    let id = || of("WARC-Record-ID").map(|id| id.trim_matches(['<', '>']).to_owned());
    let Some(text) = text else { return Ok(None) };
    let key = of("WARC-TREC-ID").or_else(id).ok_or("a record without a WARC-Record-ID")?;
    let key = key.trim_start_matches("urn:uuid:").to_owned();
    Ok(Some(Page { key, url: of("WARC-Target-URI"), date: of("WARC-Date"), text }))
}

fn is_http(kind: &str) -> bool {
    kind.to_ascii_lowercase().starts_with("application/http")
}

fn of_response(block: &[u8]) -> Result<Option<String>, String> {
    let response = Response::of(block)?;
    if !(200..300).contains(&response.status) {
        return Ok(None);
    }
    let is_markup = match &*response.kind {
        "text/html" | "application/xhtml+xml" => true,
        "" => response.body.trim_ascii_start().starts_with(b"<"),
        kind if kind.starts_with("text/") => false,
        _ => return Ok(None),
    };
    let text = decoded(&response.body, response.charset.as_deref());
    Ok(Some(if is_markup { titled(Markup::taken_off(&text)) } else { text.into_owned() }))
}

fn titled(Markup { title, text }: Markup) -> String {
    if title.is_empty() { text } else { format!("{title}\n{text}") }
}

/// Returns a body's text: by its byte order mark, the encoding that its answer names, or the one that it
/// names itself. Without any it is UTF-8 if it can be, or else Windows-1252.
fn decoded<'b>(body: &'b [u8], charset: Option<&str>) -> Cow<'b, str> {
    let named = charset.and_then(|name| Encoding::for_label(name.as_bytes()));
    let encoding = named.or_else(|| own_encoding(body)).unwrap_or_else(|| {
        let is_utf8 = std::str::from_utf8(body).is_ok();
        if is_utf8 { UTF_8 } else { WINDOWS_1252 }
    });
    encoding.decode(body).0
}

/// Returns the encoding that a page names in its beginning.
fn own_encoding(body: &[u8]) -> Option<&'static Encoding> {
    let head = body[..body.len().min(LOOKED_AT)].to_ascii_lowercase();
    let place = head.windows(8).position(|part| part == b"charset=")?;
    let quoted = head[place + 8..].trim_ascii_start();
    let rest = quoted.strip_prefix(b"\"").or(quoted.strip_prefix(b"'")).unwrap_or(quoted);
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:.".contains(byte));
    let encoding = Encoding::for_label(&rest[..end.unwrap_or(rest.len())])?;
    // A page that names this one in letters of one byte is not written in it.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// Returns the document of a TREC collection: what stands in `DOCNO`, and the text of all other
/// elements. A page has what its server answered in `DOCHDR`, which is no text.
pub(crate) fn of_trec(record: &[u8]) -> Result<Page, String> {
    let text = decoded(record, None);
    let within = |name: &str| {
        let start = text.find(&format!("<{name}>"))? + name.len() + 2;
        let len = text[start..].find(&format!("</{name}>"))?;
        Some(&text[start..start + len])
    };
    let key = within("DOCNO").map(str::trim).filter(|key| !key.is_empty());
    let key = key.ok_or("a document without a DOCNO")?.to_owned();
    let url = within("DOCHDR").and_then(|head| head.split_ascii_whitespace().next());
    let mut rest = text.to_string();
    for name in ["DOCNO", "DOCHDR"] {
        if let (Some(start), Some(end)) =
            (rest.find(&format!("<{name}>")), rest.find(&format!("</{name}>")))
            && start < end
        {
            rest.replace_range(start..end, "");
        }
    }
    let url = url.map(str::to_owned);
    Ok(Page { key, url, date: None, text: titled(Markup::taken_off(&rest)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warc(kind: &str, content: &str, block: &[u8]) -> Vec<u8> {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://x.org/a\r\n\
             WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:1-2>\r\n\
             Content-Type: {content}\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        [head.as_bytes(), block].concat()
    }

    fn text_of(kind: &str, body: &[u8]) -> Option<String> {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
        let record = warc(
            "response",
            "application/http; msgtype=response",
            &[answer.as_bytes(), body].concat(),
        );
        of_warc(&record).unwrap().map(|page| page.text)
    }

    #[test]
    fn responses_become_pages() {
        let body = "<html><title>Birds</title><p>A heron</html>";
        assert_eq!(text_of("text/html", body.as_bytes()).unwrap(), "Birds\nA heron");
        assert_eq!(text_of("text/plain", b"a < b").unwrap(), "a < b");
        assert_eq!(text_of("", b" <p>x").unwrap(), "x");
        assert_eq!(text_of("image/png", b"x"), None);
        let gone = warc("response", "application/http", b"HTTP/1.1 404 Not Found\r\n\r\nnothing");
        assert_eq!(of_warc(&gone), Ok(None));
        let name = warc("response", "text/dns", b"20260102 x.org. 300 IN A 127.0.0.1");
        assert_eq!(of_warc(&name), Ok(None));
        let page = of_warc(&warc("conversion", "text/plain", "größe".as_bytes())).unwrap().unwrap();
        assert_eq!((&*page.key, &*page.text), ("1-2", "größe"));
        assert_eq!(page.url.as_deref(), Some("http://x.org/a"));
        assert_eq!(page.date.as_deref(), Some("2026-01-02T03:04:05Z"));
    }

    #[test]
    fn the_encoding_is_what_the_answer_or_the_page_says() {
        assert_eq!(text_of("text/html;charset=iso-8859-1", b"gr\xf6\xdfe").unwrap(), "größe");
        assert_eq!(text_of("text/html; charset=Shift_JIS", b"\x93\xfa\x96{").unwrap(), "日本");
        let own =
            b"<meta http-equiv=content-type content='text/html; charset=windows-1251'>\xcc\xe8\xf0";
        assert_eq!(text_of("text/html", own).unwrap(), "Мир");
        assert_eq!(text_of("text/html", b"<meta charset=\"koi8-r\">\xed\xc9\xd2").unwrap(), "Мир");
        assert_eq!(text_of("text/html", "größe".as_bytes()).unwrap(), "größe");
        assert_eq!(text_of("text/html", b"gr\xf6\xdfe").unwrap(), "größe");
        assert_eq!(text_of("text/html; charset=none", b"\xff\xfea\0").unwrap(), "a");
    }

    #[test]
    fn trec_documents_have_their_number_and_all_text() {
        let page = of_trec(
            b"<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>\nHerons\n</HEADLINE>\n<TEXT>A &amp; b</TEXT>\n</DOC>",
        )
        .unwrap();
        assert_eq!((&*page.key, &*page.text), ("FT911-3", "Herons\nA & b"));
        let page = of_trec(
            b"<DOC><DOCNO>GX000-00</DOCNO><DOCHDR>\nhttp://x.gov/\nHTTP/1.1 200 OK\n</DOCHDR>\n<html>birds</html></DOC>",
        )
        .unwrap();
        assert_eq!((page.url.as_deref(), &*page.text), (Some("http://x.gov/"), "birds"));
        assert!(of_trec(b"<DOC><TEXT>x</TEXT></DOC>").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes: Vec<u8>) {
            let _ = (of_warc(&bytes), of_trec(&bytes));
            let _ = of_response(&bytes);
        }
    }
}
