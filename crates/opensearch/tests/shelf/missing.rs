//! Metrics with a value that stands for missing ones, over the [shelf](super), and the answers of
//! OpenSearch 2.19.

/// An aggregation, and its answer.
pub(crate) const MISSING: &[(&str, &str)] = &[
    (r#"{"avg":{"field":"price","missing":3}}"#, r#"{"value":3.95}"#),
    (r#"{"sum":{"field":"price","missing":3}}"#, r#"{"value":19.75}"#),
    (r#"{"min":{"field":"price","missing":3}}"#, r#"{"value":1.5}"#),
    (r#"{"max":{"field":"price","missing":3}}"#, r#"{"value":10.25}"#),
    (
        r#"{"stats":{"field":"price","missing":3}}"#,
        r#"{"count":5,"min":1.5,"max":10.25,"avg":3.95,"sum":19.75}"#,
    ),
    (
        r#"{"extended_stats":{"field":"price","missing":3}}"#,
        r#"{"count":5,"min":1.5,"max":10.25,"avg":3.95,"sum":19.75,"sum_of_squares":129.3125,"variance":10.26,"variance_population":10.26,"variance_sampling":12.825,"std_deviation":3.2031234756093934,"std_deviation_population":3.2031234756093934,"std_deviation_sampling":3.5812009158939966,"std_deviation_bounds":{"upper":10.356246951218786,"lower":-2.4562469512187866,"upper_population":10.356246951218786,"lower_population":-2.4562469512187866,"upper_sampling":11.112401831787993,"lower_sampling":-3.212401831787993}}"#,
    ),
    (r#"{"value_count":{"field":"price","missing":3}}"#, r#"{"value":5}"#),
    (r#"{"cardinality":{"field":"price","missing":3}}"#, r#"{"value":4}"#),
    (
        r#"{"stats":{"field":"price","missing":"2.5"}}"#,
        r#"{"count":5,"min":1.5,"max":10.25,"avg":3.75,"sum":18.75}"#,
    ),
    (r#"{"min":{"field":"price","missing":-1.25}}"#, r#"{"value":-1.25}"#),
    (r#"{"value_count":{"field":"price","missing":1.5}}"#, r#"{"value":5}"#),
    (r#"{"cardinality":{"field":"price","missing":1.5}}"#, r#"{"value":3}"#),
    (r#"{"cardinality":{"field":"price","missing":1}}"#, r#"{"value":4}"#),
    (r#"{"value_count":{"field":"ok","missing":true}}"#, r#"{"value":5}"#),
    (r#"{"cardinality":{"field":"ok","missing":"false"}}"#, r#"{"value":2}"#),
    (r#"{"value_count":{"field":"tag","missing":"bird"}}"#, r#"{"value":5}"#),
    (r#"{"cardinality":{"field":"tag","missing":7}}"#, r#"{"value":4}"#),
    (
        r#"{"min":{"field":"at","missing":"2026-11-01"}}"#,
        r#"{"value":1793491200000.0,"value_as_string":"2026-11-01T00:00:00.000Z"}"#,
    ),
    (
        r#"{"max":{"field":"at","missing":1798761600000}}"#,
        r#"{"value":1798761600000.0,"value_as_string":"2027-01-01T00:00:00.000Z"}"#,
    ),
    (
        r#"{"stats":{"field":"at","missing":"2026-12-24T00:00:00Z"}}"#,
        r#"{"count":5,"min":1795341600000.0,"max":1798070400000.0,"avg":1796064839999.8,"sum":8980324199999.0,"min_as_string":"2026-11-22T10:00:00.000Z","max_as_string":"2026-12-24T00:00:00.000Z","avg_as_string":"2026-11-30T18:53:59.999Z","sum_as_string":"2254-07-29T22:29:59.999Z"}"#,
    ),
    (
        r#"{"min":{"field":"at","missing":"2025","format":"yyyy"}}"#,
        r#"{"value":1735689600000.0,"value_as_string":"2025"}"#,
    ),
    (
        r#"{"percentiles":{"field":"price","missing":4,"percents":[0,50,100]}}"#,
        r#"{"values":{"0.0":1.5,"50.0":4.0,"100.0":10.25}}"#,
    ),
    (r#"{"avg":{"field":"none","missing":3}}"#, r#"{"value":3.0}"#),
    (r#"{"sum":{"field":"none","missing":2.5}}"#, r#"{"value":12.5}"#),
    (
        r#"{"stats":{"field":"none","missing":"4"}}"#,
        r#"{"count":5,"min":4.0,"max":4.0,"avg":4.0,"sum":20.0}"#,
    ),
    (
        r#"{"extended_stats":{"field":"none","missing":4}}"#,
        r#"{"count":5,"min":4.0,"max":4.0,"avg":4.0,"sum":20.0,"sum_of_squares":80.0,"variance":0.0,"variance_population":0.0,"variance_sampling":0.0,"std_deviation":0.0,"std_deviation_population":0.0,"std_deviation_sampling":0.0,"std_deviation_bounds":{"upper":4.0,"lower":4.0,"upper_population":4.0,"lower_population":4.0,"upper_sampling":4.0,"lower_sampling":4.0}}"#,
    ),
    (r#"{"value_count":{"field":"none","missing":"a"}}"#, r#"{"value":5}"#),
    (r#"{"cardinality":{"field":"none","missing":true}}"#, r#"{"value":1}"#),
    (
        r#"{"percentiles":{"field":"none","missing":3,"percents":[50]}}"#,
        r#"{"values":{"50.0":3.0}}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"y":{"avg":{"field":"price","missing":10}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"y":{"value":5.75}},{"key":"Mixed","doc_count":1,"y":{"value":2.0}},{"key":"beast","doc_count":1,"y":{"value":10.25}},{"key":"net","doc_count":1,"y":{"value":10.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","order":{"y":"desc"}},"aggs":{"y":{"max":{"field":"price","missing":100}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"y":{"value":100.0}},{"key":"net","doc_count":1,"y":{"value":100.0}},{"key":"beast","doc_count":1,"y":{"value":10.25}},{"key":"Mixed","doc_count":1,"y":{"value":2.0}}]}"#,
    ),
    (
        r#"{"filter":{"term":{"tag":"net"}},"aggs":{"y":{"avg":{"field":"views","missing":10}},"z":{"sum":{"field":"price","missing":0.5}}}}"#,
        r#"{"doc_count":1,"y":{"value":10.0},"z":{"value":0.5}}"#,
    ),
    (
        r#"{"terms":{"field":"tag","size":2,"order":{"_key":"asc"}},"aggs":{"b":{"range":{"field":"views","ranges":[{"from":0}]},"aggs":{"c":{"filter":{"exists":{"field":"title"}},"aggs":{"d":{"histogram":{"field":"views","interval":20,"min_doc_count":1},"aggs":{"e":{"date_histogram":{"field":"at","calendar_interval":"month"},"aggs":{"f":{"filters":{"filters":{"yes":{"term":{"ok":true}}}},"aggs":{"g":{"missing":{"field":"none"},"aggs":{"h":{"avg":{"field":"price","missing":7}}}}}}}}}}}}}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":3,"buckets":[{"key":"Mixed","doc_count":1,"b":{"buckets":[{"key":"0.0-*","from":0.0,"doc_count":1,"c":{"doc_count":1,"d":{"buckets":[{"key":40.0,"doc_count":1,"e":{"buckets":[{"key_as_string":"2026-11-01T00:00:00.000Z","key":1793491200000,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":0,"g":{"doc_count":0,"h":{"value":null}}}}}}]}}]}}}]}},{"key":"beast","doc_count":1,"b":{"buckets":[{"key":"0.0-*","from":0.0,"doc_count":1,"c":{"doc_count":1,"d":{"buckets":[{"key":0.0,"doc_count":1,"e":{"buckets":[{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":1,"g":{"doc_count":1,"h":{"value":10.25}}}}}}]}}]}}}]}}]}"#,
    ),
];

/// An aggregation, and its error: the type and the reason.
pub(crate) const REFUSED: &[(&str, &str, &str)] = &[
    (
        r#"{"avg":{"field":"price","missing":"x"}}"#,
        "number_format_exception",
        r#"For input string: "x""#,
    ),
    (
        r#"{"stats":{"field":"views","missing":true}}"#,
        "number_format_exception",
        r#"For input string: "true""#,
    ),
    (
        r#"{"value_count":{"field":"ok","missing":1}}"#,
        "illegal_argument_exception",
        r#"Cannot parse boolean [1], expected either [true] or [false]"#,
    ),
    (
        r#"{"avg":{"field":"none","missing":"x"}}"#,
        "number_format_exception",
        r#"For input string: "x""#,
    ),
];
