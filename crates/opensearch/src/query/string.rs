//! `query_string`: a text in Lucene's syntax.

mod parser;

use spirit::Clause;

use super::Asked;
use super::fuzziness::{Fuzziness, prefix_length};
use super::members::{object, text, unknown};
use super::phrase::slop;
use super::several::{tie, weighted};
use super::target::{Options, check_length};
use super::words::{Operator, analyzer, expansions};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;
use parser::Parser;

const QUERY: &str = "query_string";

/// The text, and its options.
#[derive(Default)]
struct Asking {
    text: Option<String>,
    default_field: Option<String>,
    options: Options,
    no_leading_wildcard: bool,
}

impl Asked<'_> {
    /// Reads `query_string`.
    pub(super) fn string(&self, body: &Json) -> Result<Clause, Refusal> {
        let mut asking = Asking::default();
        for (name, value) in object(QUERY, body)? {
            asking.option(name, value)?;
        }
        let missing = || Refusal::parsing("[query_string] must be provided with a [query]");
        let text = asking.text.ok_or_else(missing)?;
        check_length(&text)?;
        let mut options = asking.options;
        if let Some(field) = asking.default_field {
            if options.fields.is_some() {
                return Err(Refusal::query_shard(
                    "failed to create query: Validation Failed: 1: [query_string] cannot use \
                     [fields] parameter in conjunction with [default_field];",
                ));
            }
            options.fields = Some(vec![(field, 1.0)]);
        }
        let options = options.settled();
        let fields = self.expanded(options.fields.as_deref());
        let parser = Parser::new(self, &text, &options, asking.no_leading_wildcard);
        Ok(options.common.of(parser.parse(&fields)?))
    }
}

impl Asking {
    fn option(&mut self, name: &str, value: &Json) -> Result<(), Refusal> {
        let options = &mut self.options;
        match name {
            "query" => self.text = Some(text(QUERY, name, value)?),
            "default_field" => self.default_field = Some(text(QUERY, name, value)?),
            "fields" => options.fields = Some(weighted(QUERY, value)?),
            "default_operator" => options.operator = Operator::read(value)?,
            "analyzer" | "quote_analyzer" => return Err(analyzer(QUERY, value)),
            "allow_leading_wildcard" => self.no_leading_wildcard = !read::boolean(value)?,
            "lenient" => options.lenient = Some(read::boolean(value)?),
            "minimum_should_match" => options.minimum = Some(text(QUERY, name, value)?),
            "fuzziness" => options.how.fuzzy.fuzziness = Fuzziness::read(value)?,
            "fuzzy_prefix_length" => options.how.fuzzy.prefix_length = prefix_length(value)?,
            "fuzzy_transpositions" => options.how.fuzzy.transpositions = read::boolean(value)?,
            "fuzzy_max_expansions" => expansions(value)?,
            "phrase_slop" => options.slop = slop(value)?,
            "tie_breaker" => options.how.tie = tie(value)?,
            "time_zone" => options.zone = Some(text(QUERY, name, value)?),
            "type" => best_fields(&text(QUERY, name, value)?)?,
            "escape" if read::boolean(value)? => {
                return Err(Refusal::unsupported("[query_string] with [escape]"));
            }
            "quote_field_suffix" => {
                return Err(Refusal::unsupported("[query_string] with [quote_field_suffix]"));
            }
            // Patterns are put in the form of terms, and gaps count, whatever these say.
            "analyze_wildcard"
            | "enable_position_increments"
            | "escape"
            | "auto_generate_synonyms_phrase_query" => read::boolean(value).map(drop)?,
            "max_determinized_states" => read::integer(value).map(drop)?,
            "rewrite" | "fuzzy_rewrite" => text(QUERY, name, value).map(drop)?,
            name if options.common.takes(name, value)? => {}
            name => return Err(unknown(QUERY, name)),
        }
        Ok(())
    }
}

/// Refuses another combination of fields than by the best.
fn best_fields(name: &str) -> Result<(), Refusal> {
    match name {
        "best_fields" => Ok(()),
        _ => Err(Refusal::unsupported(format_args!("[query_string] of type [{name}]"))),
    }
}
