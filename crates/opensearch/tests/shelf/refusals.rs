//! Queries that are refused, with the kind of the error and its words.

/// A query, the kind of its error, and the reason.
pub(crate) type Refused = (&'static str, &'static str, &'static str);

/// As OpenSearch 2.19 answers. Places in the text are left out, and the kind is that of the query's
/// error where OpenSearch wraps another one around it.
pub(crate) const REFUSED_THERE: &[Refused] = &[
    (r#"{"foo":{}}"#, "parsing_exception", r#"unknown query [foo]"#),
    (
        r#"{"match":{"title":{"query":"x","bar":1}}}"#,
        "parsing_exception",
        r#"[match] query does not support [bar]"#,
    ),
    (
        r#"{"match":{"title":"a","tag":"b"}}"#,
        "parsing_exception",
        r#"[match] query doesn't support multiple fields, found [title] and [tag]"#,
    ),
    (
        r#"{"match":{"title":{"operator":"and"}}}"#,
        "parsing_exception",
        r#"No text specified for text query"#,
    ),
    (
        r#"{"match":{"title":{"query":"a","operator":"nor"}}}"#,
        "illegal_argument_exception",
        r#"No enum constant org.opensearch.index.query.Operator.NOR"#,
    ),
    (
        r#"{"match":{"title":{"query":"a","analyzer":"nope"}}}"#,
        "query_shard_exception",
        r#"[match] analyzer [nope] not found"#,
    ),
    (
        r#"{"match":{"title":{"query":"a","zero_terms_query":"some"}}}"#,
        "parsing_exception",
        r#"Unsupported zero_terms_query value [some]"#,
    ),
    (
        r#"{"match":{"title":{"query":"a","fuzziness":"AUTO:x"}}}"#,
        "parse_exception",
        r#"failed to find low and high distance values"#,
    ),
    (
        r#"{"match":{"title":{"query":["a"]}}}"#,
        "parsing_exception",
        r#"[match] unknown token [START_ARRAY] after [query]"#,
    ),
    (r#"{"match":{}}"#, "parsing_exception", r#"No text specified for text query"#),
    (
        r#"{"match":"x"}"#,
        "parsing_exception",
        r#"[match] query malformed, no start_object after query name"#,
    ),
    (
        r#"{"match":{"views":"abc"}}"#,
        "query_shard_exception",
        r#"failed to create query: For input string: "abc""#,
    ),
    (
        r#"{"match":{"ok":"maybe"}}"#,
        "query_shard_exception",
        r#"failed to create query: Can't parse boolean value [maybe], expected [true] or [false]"#,
    ),
    (
        r#"{"match":{"at":"maybe"}}"#,
        "parse_exception",
        r#"failed to parse date field [maybe] with format [strict_date_optional_time||epoch_millis]: [failed to parse date field [maybe] with format [strict_date_optional_time||epoch_millis]]"#,
    ),
    (
        r#"{"match":{"price":"maybe"}}"#,
        "query_shard_exception",
        r#"failed to create query: For input string: "maybe""#,
    ),
    (
        r#"{"match_phrase":{"title":{"query":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[match_phrase] query does not support [bar]"#,
    ),
    (
        r#"{"match_phrase":{"title":{"query":"a","slop":-1}}}"#,
        "illegal_argument_exception",
        r#"No negative slop allowed."#,
    ),
    (
        r#"{"match_phrase":{"title":"a","tag":"b"}}"#,
        "parsing_exception",
        r#"[match_phrase] query doesn't support multiple fields, found [title] and [tag]"#,
    ),
    (
        r#"{"match_phrase_prefix":{"title":{"query":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[match_phrase_prefix] query does not support [bar]"#,
    ),
    (
        r#"{"match_phrase_prefix":{"tag":"a b"}}"#,
        "query_shard_exception",
        r#"failed to create query: Can only use phrase prefix queries on text fields - not on [tag] which is of type [keyword]"#,
    ),
    (
        r#"{"match_phrase_prefix":{"title":{"query":"a","max_expansions":-1}}}"#,
        "illegal_argument_exception",
        r#"No negative maxExpansions allowed."#,
    ),
    (
        r#"{"match_bool_prefix":{"title":{"query":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[match_bool_prefix] query does not support [bar]"#,
    ),
    (
        r#"{"multi_match":{"query":"a","bar":1}}"#,
        "parsing_exception",
        r#"[multi_match] query does not support [bar]"#,
    ),
    (
        r#"{"multi_match":{"fields":["title"]}}"#,
        "parsing_exception",
        r#"No text specified for multi_match query"#,
    ),
    (
        r#"{"multi_match":{"query":"a","type":"best"}}"#,
        "parse_exception",
        r#"failed to parse [multi_match] query type [best]. unknown type."#,
    ),
    (
        r#"{"multi_match":{"query":"a","type":"phrase","fuzziness":1,"fields":["title"]}}"#,
        "parsing_exception",
        r#"Fuzziness not allowed for type [phrase]"#,
    ),
    (
        r#"{"multi_match":{"query":"a","fields":["title^x"]}}"#,
        "number_format_exception",
        r#"For input string: "x""#,
    ),
    (
        r#"{"multi_match":{"query":"a","fields":{"a":1}}}"#,
        "parsing_exception",
        r#"[multi_match] query does not support [fields]"#,
    ),
    (
        r#"{"term":{"tag":"a","views":1}}"#,
        "parsing_exception",
        r#"[term] query doesn't support multiple fields, found [tag] and [views]"#,
    ),
    (
        r#"{"term":{"tag":{"value":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[term] query does not support [bar]"#,
    ),
    (
        r#"{"term":{"tag":["a"]}}"#,
        "parsing_exception",
        r#"[term] query does not support array of values"#,
    ),
    (
        r#"{"term":{"tag":{"bar":{}}}}"#,
        "parsing_exception",
        r#"[term] query does not support [bar]"#,
    ),
    (r#"{"term":{"tag":null}}"#, "illegal_argument_exception", r#"field name is null or empty"#),
    (r#"{"term":{"tag":{"boost":1}}}"#, "illegal_argument_exception", r#"value cannot be null"#),
    (r#"{"term":{}}"#, "illegal_argument_exception", r#"field name is null or empty"#),
    (
        r#"{"term":"x"}"#,
        "parsing_exception",
        r#"[term] query malformed, no start_object after query name"#,
    ),
    (
        r#"{"term":{"views":"abc"}}"#,
        "query_shard_exception",
        r#"failed to create query: For input string: "abc""#,
    ),
    (r#"{"terms":{"tag":"a"}}"#, "parsing_exception", r#"[terms] query does not support [tag]"#),
    (
        r#"{"terms":{"tag":["a"],"views":[1]}}"#,
        "parsing_exception",
        r#"[terms] query does not support multiple fields"#,
    ),
    (
        r#"{"terms":{}}"#,
        "parsing_exception",
        r#"[terms] query requires a field name, followed by array of terms or a document lookup specification"#,
    ),
    (
        r#"{"terms":{"tag":["a"],"bar":1}}"#,
        "parsing_exception",
        r#"[terms] query does not support [bar]"#,
    ),
    (
        r#"{"terms":{"tag":["a",null]}}"#,
        "parsing_exception",
        r#"No value specified for terms query"#,
    ),
    (
        r#"{"range":{"views":{"gte":1,"bar":2}}}"#,
        "parsing_exception",
        r#"[range] query does not support [bar]"#,
    ),
    (
        r#"{"range":{"views":{"gte":"abc"}}}"#,
        "query_shard_exception",
        r#"failed to create query: For input string: "abc""#,
    ),
    (
        r#"{"range":{"views":[1]}}"#,
        "parsing_exception",
        r#"[range] query does not support [views]"#,
    ),
    (
        r#"{"range":{"views":{"gte":1},"price":{"gte":1}}}"#,
        "parsing_exception",
        r#"[range] query doesn't support multiple fields, found [views] and [price]"#,
    ),
    (r#"{"range":{"views":3}}"#, "parsing_exception", r#"[range] query does not support [views]"#),
    (r#"{"range":{}}"#, "illegal_argument_exception", r#"field name is null or empty"#),
    (
        r#"{"range":{"at":{"gte":"now-1x"}}}"#,
        "parse_exception",
        r#"unit [x] not supported for date math [-1x]"#,
    ),
    (r#"{"range":{"at":{"gte":"now/"}}}"#, "parse_exception", r#"truncated date math [/]"#),
    (r#"{"range":{"at":{"gte":"now-"}}}"#, "parse_exception", r#"truncated date math [-]"#),
    (
        r#"{"range":{"at":{"gte":"now*1"}}}"#,
        "parse_exception",
        r#"operator not supported for date math [*1]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"nowish"}}}"#,
        "parse_exception",
        r#"operator not supported for date math [ish]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"now/2d"}}}"#,
        "parse_exception",
        r#"rounding `/` can only be used on single unit types [/2d]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"2026-1-2"}}}"#,
        "parse_exception",
        r#"failed to parse date field [2026-1-2] with format [strict_date_optional_time||epoch_millis]: [failed to parse date field [2026-1-2] with format [strict_date_optional_time||epoch_millis]]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"2026-13-22"}}}"#,
        "parse_exception",
        r#"failed to parse date field [2026-13-22] with format [strict_date_optional_time||epoch_millis]: [failed to parse date field [2026-13-22] with format [strict_date_optional_time||epoch_millis]]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"22/11/2026","format":"ddx/"}}}"#,
        "parse_exception",
        r#"failed to parse date field [22/11/2026] with format [ddx/]: [failed to parse date field [22/11/2026] with format [ddx/]]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"x","format":"epoch_millis"}}}"#,
        "parse_exception",
        r#"failed to parse date field [x] with format [epoch_millis]: [failed to parse date field [x] with format [epoch_millis]]"#,
    ),
    (
        r#"{"range":{"at":{"gte":"now","time_zone":"Nowhere"}}}"#,
        "illegal_argument_exception",
        r#"java.time.zone.ZoneRulesException: Unknown time-zone ID: Nowhere"#,
    ),
    (
        r#"{"range":{"at":{"gte":1,"relation":"foo"}}}"#,
        "illegal_argument_exception",
        r#"foo is not a valid relation"#,
    ),
    (r#"{"exists":{}}"#, "parsing_exception", r#"[exists] must be provided with a [field]"#),
    (
        r#"{"exists":{"field":"title","bar":1}}"#,
        "parsing_exception",
        r#"[exists] query does not support [bar]"#,
    ),
    (
        r#"{"exists":{"field":["title"]}}"#,
        "parsing_exception",
        r#"[exists] unknown token [START_ARRAY] after [field]"#,
    ),
    (
        r#"{"prefix":{"tag":{"value":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[prefix] query does not support [bar]"#,
    ),
    (
        r#"{"prefix":{"tag":"a","views":"b"}}"#,
        "parsing_exception",
        r#"[prefix] query doesn't support multiple fields, found [tag] and [views]"#,
    ),
    (
        r#"{"prefix":{"views":"a"}}"#,
        "query_shard_exception",
        r#"Can only use prefix queries on keyword and text fields - not on [views] which is of type [long]"#,
    ),
    (r#"{"prefix":{"tag":{"boost":1}}}"#, "illegal_argument_exception", r#"value cannot be null"#),
    (
        r#"{"wildcard":{"tag":{"value":"a*","bar":1}}}"#,
        "parsing_exception",
        r#"[wildcard] query does not support [bar]"#,
    ),
    (
        r#"{"wildcard":{"views":"a*"}}"#,
        "query_shard_exception",
        r#"Can only use wildcard queries on keyword and text fields - not on [views] which is of type [long]"#,
    ),
    (
        r#"{"wildcard":{"tag":{"boost":1}}}"#,
        "illegal_argument_exception",
        r#"value cannot be null"#,
    ),
    (
        r#"{"regexp":{"tag":{"value":"a.*","bar":1}}}"#,
        "parsing_exception",
        r#"[regexp] query does not support [bar]"#,
    ),
    (
        r#"{"regexp":{"tag":{"value":"a","flags":"FOO"}}}"#,
        "illegal_argument_exception",
        r#"Unknown regexp flag [FOO]"#,
    ),
    (
        r#"{"regexp":{"views":"a"}}"#,
        "query_shard_exception",
        r#"Can only use regexp queries on keyword and text fields - not on [views] which is of type [long]"#,
    ),
    (
        r#"{"fuzzy":{"tag":{"value":"a","bar":1}}}"#,
        "parsing_exception",
        r#"[fuzzy] query does not support [bar]"#,
    ),
    (
        r#"{"fuzzy":{"views":"a"}}"#,
        "query_shard_exception",
        r#"failed to create query: Can only use fuzzy queries on keyword and text fields - not on [views] which is of type [long]"#,
    ),
    (
        r#"{"fuzzy":{"tag":{"value":"a","fuzziness":"x"}}}"#,
        "illegal_argument_exception",
        r#"Invalid fuzziness value: x"#,
    ),
    (r#"{"ids":{"values":["1"],"bar":1}}"#, "parsing_exception", r#"[ids] unknown field [bar]"#),
    (
        r#"{"ids":{"values":[1,"1"],"type":"_doc"}}"#,
        "parsing_exception",
        r#"[ids] unknown field [type]"#,
    ),
    (
        r#"{"bool":{"must":"x"}}"#,
        "x_content_parse_exception",
        r#"[bool] must doesn't support values of type: VALUE_STRING"#,
    ),
    (
        r#"{"bool":{"must":[1]}}"#,
        "parsing_exception",
        r#"[_na] query malformed, must start with start_object"#,
    ),
    (
        r#"{"bool":{"must":1}}"#,
        "x_content_parse_exception",
        r#"[bool] must doesn't support values of type: VALUE_NUMBER"#,
    ),
    (
        r#"{"bool":{"minimum_should_match":"x","should":[{"match_all":{}}]}}"#,
        "query_shard_exception",
        r#"failed to create query: For input string: "x""#,
    ),
    (
        r#"{"bool":[]}"#,
        "parsing_exception",
        r#"[bool] query malformed, no start_object after query name"#,
    ),
    (r#"{"match_all":{"bar":1}}"#, "parsing_exception", r#"[match_all] unknown field [bar]"#),
    (
        r#"{"match_all":[]}"#,
        "parsing_exception",
        r#"[match_all] query malformed, no start_object after query name"#,
    ),
    (
        r#"{"match_none":{"bar":1}}"#,
        "parsing_exception",
        r#"[match_none] query does not support [bar]"#,
    ),
    (
        r#"{"match_all":{},"term":{"a":1}}"#,
        "parsing_exception",
        r#"[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]"#,
    ),
    (
        r#"{"constant_score":{}}"#,
        "parsing_exception",
        r#"[constant_score] requires a 'filter' element"#,
    ),
    (
        r#"{"constant_score":{"filter":{"match_all":{}},"bar":1}}"#,
        "parsing_exception",
        r#"[constant_score] query does not support [bar]"#,
    ),
    (
        r#"{"constant_score":{"filter":[{"match_all":{}}]}}"#,
        "parsing_exception",
        r#"unexpected token [START_ARRAY]"#,
    ),
    (
        r#"{"constant_score":{"foo":{"match_all":{}}}}"#,
        "parsing_exception",
        r#"[constant_score] query does not support [foo]"#,
    ),
    (
        r#"{"boosting":{"positive":{"match_all":{}}}}"#,
        "parsing_exception",
        r#"[boosting] query requires 'negative' query to be set'"#,
    ),
    (
        r#"{"boosting":{"negative":{"match_all":{}}}}"#,
        "parsing_exception",
        r#"[boosting] query requires 'positive' query to be set'"#,
    ),
    (
        r#"{"boosting":{"positive":{"match_all":{}},"negative":{"match_all":{}}}}"#,
        "parsing_exception",
        r#"[boosting] query requires 'negative_boost' to be set to be a positive value'"#,
    ),
    (
        r#"{"boosting":{"positive":{"match_all":{}},"negative":{"match_all":{}},"negative_boost":0.5,"bar":1}}"#,
        "parsing_exception",
        r#"[boosting] query does not support [bar]"#,
    ),
    (
        r#"{"dis_max":{}}"#,
        "parsing_exception",
        r#"[dis_max] requires 'queries' field with at least one clause"#,
    ),
    (
        r#"{"dis_max":{"queries":[{"match_all":{}}],"bar":1}}"#,
        "parsing_exception",
        r#"[dis_max] query does not support [bar]"#,
    ),
    (r#"{"dis_max":{"bar":[]}}"#, "parsing_exception", r#"[dis_max] query does not support [bar]"#),
    (
        r#"{"query_string":{}}"#,
        "parsing_exception",
        r#"[query_string] must be provided with a [query]"#,
    ),
    (
        r#"{"query_string":{"query":"a","bar":1}}"#,
        "parsing_exception",
        r#"[query_string] query does not support [bar]"#,
    ),
    (
        r#"{"query_string":{"query":"(a AND"}}"#,
        "query_shard_exception",
        r#"Failed to parse query [(a AND]"#,
    ),
    (
        r#"{"query_string":{"query":"a","default_operator":"nor"}}"#,
        "illegal_argument_exception",
        r#"No enum constant org.opensearch.index.query.Operator.NOR"#,
    ),
    (
        r#"{"query_string":{"query":"a","default_field":"title","fields":["tag"]}}"#,
        "query_shard_exception",
        r#"failed to create query: Validation Failed: 1: [query_string] cannot use [fields] parameter in conjunction with [default_field];"#,
    ),
    (
        r#"{"simple_query_string":{"query":"a","bar":1}}"#,
        "parsing_exception",
        r#"[simple_query_string] unsupported field [bar]"#,
    ),
    (
        r#"{"simple_query_string":{}}"#,
        "parsing_exception",
        r#"[simple_query_string] query text missing"#,
    ),
    (
        r#"{"simple_query_string":{"query":"a","flags":"FOO"}}"#,
        "illegal_argument_exception",
        r#"Unknown simple_query_string flag [FOO]"#,
    ),
    (
        r#"{"function_score":{"foo":1}}"#,
        "parsing_exception",
        r#"failed to parse [function_score] query. field [foo] is not supported"#,
    ),
    (
        r#"{"nested":{"path":"users","query":{"term":{"users.name":"a"}},"bar":1}}"#,
        "parsing_exception",
        r#"[nested] query does not support [bar]"#,
    ),
    (
        r#"{"nested":{"query":{"match_all":{}}}}"#,
        "illegal_argument_exception",
        r#"[nested] requires 'path' field"#,
    ),
    (
        r#"{"nested":{"path":"users"}}"#,
        "illegal_argument_exception",
        r#"[nested] requires 'query' field"#,
    ),
    (
        r#"{"nested":{"path":"nope","query":{"match_all":{}}}}"#,
        "query_shard_exception",
        r#"failed to create query: [nested] failed to find nested object under path [nope]"#,
    ),
    (
        r#"{"nested":{"path":"title","query":{"match_all":{}}}}"#,
        "query_shard_exception",
        r#"failed to create query: [nested] failed to find nested object under path [title]"#,
    ),
    (
        r#"{"nested":{"path":"users","score_mode":"foo","query":{"match_all":{}}}}"#,
        "illegal_argument_exception",
        r#"No score mode for child query [foo] found"#,
    ),
];

/// As only this crate answers: what it does not support, and errors that OpenSearch wraps twice.
pub(crate) const REFUSED_HERE: &[Refused] = &[
    (
        r#"{"bool":{"must":{"match_all":{}},"foo":[]}}"#,
        "parsing_exception",
        r#"[bool] query does not support [foo]"#,
    ),
    (
        r#"{"terms":{"tag":{"index":"x","id":"1","path":"p"}}}"#,
        "illegal_argument_exception",
        r#"[terms] with a lookup is not supported by this server"#,
    ),
    (
        r#"{"terms_set":{"tag":{"terms":["a"]}}}"#,
        "illegal_argument_exception",
        r#"the query [terms_set] is not supported by this server"#,
    ),
    (
        r#"{"regexp":{"tag":{"value":"a("}}}"#,
        "query_shard_exception",
        r#"failed to create query: at byte 1 of the regular expression: unclosed group"#,
    ),
    (
        r#"{"bool":{"must":[{}]}}"#,
        "illegal_argument_exception",
        r#"query malformed, empty clause found"#,
    ),
    (
        r#"{"bool":{"must":{}}}"#,
        "illegal_argument_exception",
        r#"query malformed, empty clause found"#,
    ),
    (r#"{}"#, "illegal_argument_exception", r#"query malformed, empty clause found"#),
    (r#"{"bool":{"boost":"x"}}"#, "number_format_exception", r#"For input string: "x""#),
    (r#"{"match_all":{"boost":"x"}}"#, "number_format_exception", r#"For input string: "x""#),
    (
        r#"{"bool":{"boost":-1}}"#,
        "illegal_argument_exception",
        r#"negative [boost] are not allowed, got [-1], use a value between 0 and 1 to deboost"#,
    ),
    (
        r#"{"match_all":{"boost":-2}}"#,
        "illegal_argument_exception",
        r#"negative [boost] are not allowed, got [-2], use a value between 0 and 1 to deboost"#,
    ),
    (
        r#"{"dis_max":{"queries":[]}}"#,
        "parsing_exception",
        r#"[dis_max] requires 'queries' field with at least one clause"#,
    ),
    (
        r#"{"function_score":{"query":{"match_all":{}},"functions":[{"foo":{}}]}}"#,
        "illegal_argument_exception",
        r#"[function_score] with [functions] is not supported by this server"#,
    ),
    (
        r#"{"more_like_this":{}}"#,
        "illegal_argument_exception",
        r#"the query [more_like_this] is not supported by this server"#,
    ),
    (
        r#"{"multi_match":{"query":"a","type":"cross_fields","fields":["title"]}}"#,
        "illegal_argument_exception",
        r#"[multi_match] of type [cross_fields] is not supported by this server"#,
    ),
    (
        r#"{"match_phrase_prefix":{"title":{"query":"grey her","slop":1}}}"#,
        "illegal_argument_exception",
        r#"[match_phrase_prefix] with a [slop] above 0 is not supported by this server"#,
    ),
    (
        r#"{"function_score":{"exp":{}}}"#,
        "illegal_argument_exception",
        r#"[function_score] with [exp] is not supported by this server"#,
    ),
    (
        r#"{"match":{"title":{"query":"a","analyzer":"simple"}}}"#,
        "illegal_argument_exception",
        r#"[match] another [analyzer] than the field's is not supported by this server"#,
    ),
    (
        r#"{"range":{"at":{"relation":"disjoint"}}}"#,
        "illegal_argument_exception",
        r#"[range] with the relation [disjoint] is not supported by this server"#,
    ),
    (
        r#"{"nested":{"path":"users","query":{"match_all":{}},"inner_hits":{}}}"#,
        "illegal_argument_exception",
        r#"[nested] with [inner_hits] is not supported by this server"#,
    ),
    (
        r#"{"match":{"ok":""}}"#,
        "query_shard_exception",
        r#"failed to create query: Can't parse boolean value [], expected [true] or [false]"#,
    ),
    (
        r#"{"regexp":{"tag":"~a"}}"#,
        "illegal_argument_exception",
        r#"[regexp] with the operator [~] is not supported by this server"#,
    ),
    (
        r#"{"query_string":{"query":"a","type":"phrase"}}"#,
        "illegal_argument_exception",
        r#"[query_string] of type [phrase] is not supported by this server"#,
    ),
    (
        r#"{"match_all":{},"term":{"tag":"a"}}"#,
        "parsing_exception",
        r#"[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]"#,
    ),
];
