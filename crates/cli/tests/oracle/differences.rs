//! Where answers differ from OpenSearch's on purpose, and what is compared there instead.

/// The factor `k1 + 1` that scores of words do not have here.
pub(crate) const SCORES_OF_WORDS: f64 = 2.2;

/// How far scores may be apart, relatively: single precision adds up in other orders.
pub(crate) const SCORE_ERROR: f64 = 1e-4;

/// How far other numbers may be apart, relatively: sums are exact here, and there they are not.
pub(crate) const NUMBER_ERROR: f64 = 1e-9;

/// Members of answers that are not compared: see the table.
pub(crate) const NOT_COMPARED: [&str; 3] = ["doc_count_error_upper_bound", "meta", "sum_as_string"];

/// What differs, why, and what the comparison does about it. `docs/opensearch.md` says the same to users.
pub(crate) const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "scores of words",
        "the factor k1 + 1 changes no order",
        "they are compared with that factor, and min_score is asked with it",
    ),
    (
        "scores of values of keywords and booleans",
        "a value matches or does not; there it has the weight of a rare term",
        "such queries are asked in the order of fields",
    ),
    (
        "scores of queries that add words and constants",
        "words do not have the factor k1 + 1, constants are equal",
        "such queries are asked in the order of fields",
    ),
    (
        "scores of phrases, of prefixes behind words, and of words with errors",
        "each counts as its words do",
        "such queries are asked in the order of fields",
    ),
    (
        "lengths above 39 words",
        "they are exact; there they are rounded to a byte",
        "documents have fewer words",
    ),
    (
        "sort values of hits without a value",
        "null is no number; there it is the largest or least one",
        "null is compared with those numbers",
    ),
    (
        "nested clauses of one path",
        "they ask one object, wherever they stand",
        "a search has one of them",
    ),
    (
        "an offset, and intervals of hours, where clocks change",
        "they are of local time; there hours go on across the change",
        "they are asked in zones whose clocks do not change",
    ),
    (
        "fractions at the edge of a histogram's bucket",
        "they are decimal; there 4.1 - 0.1 is less than 4",
        "offsets are whole numbers",
    ),
    (
        "more than 65,535 buckets",
        "each aggregation may have that number, and all together four times as many; there all together",
        "such a search is left out",
    ),
    (
        "aggregations of fields that the index does not have, within ranges",
        "they have no documents, and the ranges do; there the ranges lose theirs",
        "fields are those of the index",
    ),
    (
        "min_doc_count with another order",
        "all buckets are looked at; there only the first by that order",
        "min_doc_count is asked with the usual order",
    ),
    (
        "terms with a missing value that documents have too, and aggregations within",
        "they are refused; there they are one bucket",
        "no document has that value",
    ),
    (
        "doc_count_error_upper_bound",
        "counts are exact; there it is -1 in other orders than of counts",
        "it is not compared",
    ),
    (
        "sum_other_doc_count with min_doc_count",
        "documents of all other buckets are counted; there some of the small ones are not",
        "it is not compared",
    ),
    ("percentiles", "both are approximate", "each is between the values of the percents beside it"),
    (
        "sum_as_string",
        "a sum of moments is no moment, and has no text if it is beyond the year 9999",
        "it is not compared",
    ),
    ("meta", "there it is an empty object in some filters", "it is not compared"),
];
