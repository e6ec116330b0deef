//! Aggregations over the [shelf](super), and the answers of OpenSearch 2.19.

/// An aggregation, and its answer.
pub(crate) const AGGREGATES: &[(&str, &str)] = &[
    (
        r#"{"histogram":{"field":"views","interval":10,"extended_bounds":{"min":60,"max":70}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1},{"key":0.0,"doc_count":1},{"key":10.0,"doc_count":2},{"key":20.0,"doc_count":0},{"key":30.0,"doc_count":0},{"key":40.0,"doc_count":1},{"key":50.0,"doc_count":0},{"key":60.0,"doc_count":0},{"key":70.0,"doc_count":0}]}"#,
    ),
    (
        r#"{"filter":{"term":{"tag":"beast"}},"aggs":{"h":{"date_histogram":{"field":"at","calendar_interval":"day","extended_bounds":{"min":"2026-11-27","max":"2026-11-28"}}},"i":{"date_histogram":{"field":"at","fixed_interval":"1d","extended_bounds":{"min":"2026-12-03","max":"2026-12-04"}}}}}"#,
        r#"{"doc_count":1,"h":{"buckets":[{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0},{"key_as_string":"2026-11-28T00:00:00.000Z","key":1795824000000,"doc_count":0},{"key_as_string":"2026-11-29T00:00:00.000Z","key":1795910400000,"doc_count":0},{"key_as_string":"2026-11-30T00:00:00.000Z","key":1795996800000,"doc_count":0},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1}]},"i":{"buckets":[{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1},{"key_as_string":"2026-12-02T00:00:00.000Z","key":1796169600000,"doc_count":0},{"key_as_string":"2026-12-03T00:00:00.000Z","key":1796256000000,"doc_count":0},{"key_as_string":"2026-12-04T00:00:00.000Z","key":1796342400000,"doc_count":0}]}}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":40,"extended_bounds":{"min":-40,"max":80}},"aggs":{"f":{"filters":{"filters":{"yes":{"term":{"ok":true}}},"other_bucket":true}},"g":{"filters":{"filters":[{"term":{"ok":true}}]}}}}"#,
        r#"{"buckets":[{"key":-40.0,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":0},"_other_":{"doc_count":1}}},"g":{"buckets":[{"doc_count":0}]}},{"key":0.0,"doc_count":3,"f":{"buckets":{"yes":{"doc_count":2},"_other_":{"doc_count":1}}},"g":{"buckets":[{"doc_count":2}]}},{"key":40.0,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":0},"_other_":{"doc_count":1}}},"g":{"buckets":[{"doc_count":0}]}},{"key":80.0,"doc_count":0,"f":{"buckets":{"yes":{"doc_count":0},"_other_":{"doc_count":0}}},"g":{"buckets":[{"doc_count":0}]}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2},{"key":"Mixed","doc_count":1},{"key":"beast","doc_count":1},{"key":"net","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","size":1}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":3,"buckets":[{"key":"bird","doc_count":2}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","order":{"_key":"asc"}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1},{"key":"beast","doc_count":1},{"key":"bird","doc_count":2},{"key":"net","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"views"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":10,"doc_count":2},{"key":-7,"doc_count":1},{"key":3,"doc_count":1},{"key":40,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"ok"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1,"key_as_string":"true","doc_count":2},{"key":0,"key_as_string":"false","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"price"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1.5,"doc_count":1},{"key":2.0,"doc_count":1},{"key":10.25,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"p":{"avg":{"field":"price"}},"d":{"date_histogram":{"field":"at","interval":"1d"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"p":{"value":1.5},"d":{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000Z","key":1795305600000,"doc_count":1},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1}]}},{"key":"Mixed","doc_count":1,"p":{"value":2.0},"d":{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000Z","key":1795305600000,"doc_count":1}]}},{"key":"beast","doc_count":1,"p":{"value":10.25},"d":{"buckets":[{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1}]}},{"key":"net","doc_count":1,"p":{"value":null},"d":{"buckets":[]}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"day"}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000Z","key":1795305600000,"doc_count":2},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1},{"key_as_string":"2026-11-24T00:00:00.000Z","key":1795478400000,"doc_count":0},{"key_as_string":"2026-11-25T00:00:00.000Z","key":1795564800000,"doc_count":0},{"key_as_string":"2026-11-26T00:00:00.000Z","key":1795651200000,"doc_count":0},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0},{"key_as_string":"2026-11-28T00:00:00.000Z","key":1795824000000,"doc_count":0},{"key_as_string":"2026-11-29T00:00:00.000Z","key":1795910400000,"doc_count":0},{"key_as_string":"2026-11-30T00:00:00.000Z","key":1795996800000,"doc_count":0},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"month","format":"yyyy-MM"}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11","key":1793491200000,"doc_count":3},{"key_as_string":"2026-12","key":1796083200000,"doc_count":1}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"12h","min_doc_count":1}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000Z","key":1795305600000,"doc_count":1},{"key_as_string":"2026-11-22T12:00:00.000Z","key":1795348800000,"doc_count":1},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1},{"key_as_string":"2026-12-01T12:00:00.000Z","key":1796126400000,"doc_count":1}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"12h","min_doc_count":1,"format":"epoch_millis","time_zone":"+01:00"}}"#,
        r#"{"buckets":[{"key_as_string":"1795302000000","key":1795302000000,"doc_count":1},{"key_as_string":"1795388400000","key":1795388400000,"doc_count":2},{"key_as_string":"1796122800000","key":1796122800000,"doc_count":1}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":20}}"#,
        r#"{"buckets":[{"key":-20.0,"doc_count":1},{"key":0.0,"doc_count":3},{"key":20.0,"doc_count":0},{"key":40.0,"doc_count":1}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":20,"min_doc_count":1,"offset":5}}"#,
        r#"{"buckets":[{"key":-15.0,"doc_count":2},{"key":5.0,"doc_count":2},{"key":25.0,"doc_count":1}]}"#,
    ),
    (
        r#"{"range":{"field":"views","ranges":[{"to":3},{"from":3,"to":40},{"from":40,"key":"big"}]}}"#,
        r#"{"buckets":[{"key":"*-3.0","to":3.0,"doc_count":1},{"key":"3.0-40.0","from":3.0,"to":40.0,"doc_count":3},{"key":"big","from":40.0,"doc_count":1}]}"#,
    ),
    (
        r#"{"range":{"field":"views","keyed":true,"ranges":[{"to":3},{"from":3}]}}"#,
        r#"{"buckets":{"*-3.0":{"to":3.0,"doc_count":1},"3.0-*":{"from":3.0,"doc_count":4}}}"#,
    ),
    (
        r#"{"date_range":{"field":"at","ranges":[{"to":"2026-11-23"},{"from":"2026-11-23"}]}}"#,
        r#"{"buckets":[{"key":"*-2026-11-23T00:00:00.000Z","to":1795392000000.0,"to_as_string":"2026-11-23T00:00:00.000Z","doc_count":2},{"key":"2026-11-23T00:00:00.000Z-*","from":1795392000000.0,"from_as_string":"2026-11-23T00:00:00.000Z","doc_count":2}]}"#,
    ),
    (r#"{"filter":{"term":{"tag":"bird"}}}"#, r#"{"doc_count":2}"#),
    (
        r#"{"filters":{"filters":{"a":{"term":{"tag":"bird"}},"b":{"match_all":{}}}}}"#,
        r#"{"buckets":{"a":{"doc_count":2},"b":{"doc_count":5}}}"#,
    ),
    (
        r#"{"filters":{"filters":[{"term":{"tag":"bird"}}],"other_bucket":true}}"#,
        r#"{"buckets":[{"doc_count":2},{"doc_count":3}]}"#,
    ),
    (
        r#"{"stats":{"field":"views"}}"#,
        r#"{"count":5,"min":-7.0,"max":40.0,"avg":11.2,"sum":56.0}"#,
    ),
    (
        r#"{"stats":{"field":"at"}}"#,
        r#"{"count":4,"min":1795341600000.0,"max":1796128200000.0,"avg":1795563449999.75,"sum":7182253799999.0,"min_as_string":"2026-11-22T10:00:00.000Z","max_as_string":"2026-12-01T12:30:00.000Z","avg_as_string":"2026-11-24T23:37:29.999Z","sum_as_string":"2197-08-05T22:29:59.999Z"}"#,
    ),
    (r#"{"avg":{"field":"price"}}"#, r#"{"value":4.583333333333333}"#),
    (
        r#"{"min":{"field":"at"}}"#,
        r#"{"value":1795341600000.0,"value_as_string":"2026-11-22T10:00:00.000Z"}"#,
    ),
    (r#"{"max":{"field":"views"}}"#, r#"{"value":40.0}"#),
    (r#"{"sum":{"field":"price"}}"#, r#"{"value":13.75}"#),
    (r#"{"value_count":{"field":"tag"}}"#, r#"{"value":5}"#),
    (r#"{"value_count":{"field":"price"}}"#, r#"{"value":3}"#),
    (r#"{"cardinality":{"field":"tag"}}"#, r#"{"value":4}"#),
    (
        r#"{"percentiles":{"field":"views","percents":[50,99.5]}}"#,
        r#"{"values":{"50.0":10.0,"99.5":40.0}}"#,
    ),
    (
        r#"{"percentiles":{"field":"views"}}"#,
        r#"{"values":{"1.0":-7.0,"5.0":-7.0,"25.0":0.5,"50.0":10.0,"75.0":17.5,"95.0":40.0,"99.0":40.0}}"#,
    ),
    (
        r#"{"percentiles":{"field":"views","keyed":false,"percents":[50]}}"#,
        r#"{"values":[{"key":50.0,"value":10.0}]}"#,
    ),
    (r#"{"missing":{"field":"price"}}"#, r#"{"doc_count":2}"#),
    (r#"{"avg":{"field":"nowhere"}}"#, r#"{"value":null}"#),
    (r#"{"min":{"field":"nowhere"}}"#, r#"{"value":null}"#),
    (
        r#"{"stats":{"field":"nowhere"}}"#,
        r#"{"count":0,"min":null,"max":null,"avg":null,"sum":0.0}"#,
    ),
    (
        r#"{"terms":{"field":"nowhere"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]}"#,
    ),
    (r#"{"cardinality":{"field":"nowhere"}}"#, r#"{"value":0}"#),
    (r#"{"percentiles":{"field":"nowhere","percents":[50]}}"#, r#"{"values":{"50.0":null}}"#),
    (r#"{"date_histogram":{"field":"nowhere","interval":"1d"}}"#, r#"{"buckets":[]}"#),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"day","min_doc_count":0,"extended_bounds":{"min":1795219200000,"max":1795500000000},"format":"epoch_millis"}}"#,
        r#"{"buckets":[{"key_as_string":"1795219200000","key":1795219200000,"doc_count":0},{"key_as_string":"1795305600000","key":1795305600000,"doc_count":2},{"key_as_string":"1795392000000","key":1795392000000,"doc_count":1},{"key_as_string":"1795478400000","key":1795478400000,"doc_count":0},{"key_as_string":"1795564800000","key":1795564800000,"doc_count":0},{"key_as_string":"1795651200000","key":1795651200000,"doc_count":0},{"key_as_string":"1795737600000","key":1795737600000,"doc_count":0},{"key_as_string":"1795824000000","key":1795824000000,"doc_count":0},{"key_as_string":"1795910400000","key":1795910400000,"doc_count":0},{"key_as_string":"1795996800000","key":1795996800000,"doc_count":0},{"key_as_string":"1796083200000","key":1796083200000,"doc_count":1}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"5d","extended_bounds":{"min":"2026-11-10","max":"2026-12-12"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-08T00:00:00.000Z","key":1794096000000,"doc_count":0},{"key_as_string":"2026-11-13T00:00:00.000Z","key":1794528000000,"doc_count":0},{"key_as_string":"2026-11-18T00:00:00.000Z","key":1794960000000,"doc_count":2},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1},{"key_as_string":"2026-11-28T00:00:00.000Z","key":1795824000000,"doc_count":1},{"key_as_string":"2026-12-03T00:00:00.000Z","key":1796256000000,"doc_count":0},{"key_as_string":"2026-12-08T00:00:00.000Z","key":1796688000000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"month","time_zone":"Europe/Berlin"},"aggs":{"p":{"stats":{"field":"price"}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-01T00:00:00.000+01:00","key":1793487600000,"doc_count":3,"p":{"count":2,"min":1.5,"max":2.0,"avg":1.75,"sum":3.5}},{"key_as_string":"2026-12-01T00:00:00.000+01:00","key":1796079600000,"doc_count":1,"p":{"count":1,"min":10.25,"max":10.25,"avg":10.25,"sum":10.25}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"week","keyed":true,"format":"yyyy-MM-dd"}}"#,
        r#"{"buckets":{"2026-11-16":{"key_as_string":"2026-11-16","key":1794787200000,"doc_count":2},"2026-11-23":{"key_as_string":"2026-11-23","key":1795392000000,"doc_count":1},"2026-11-30":{"key_as_string":"2026-11-30","key":1795996800000,"doc_count":1}}}"#,
    ),
    (
        r#"{"terms":{"field":"tag","order":{"p":"desc"}},"aggs":{"p":{"max":{"field":"views"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1,"p":{"value":40.0}},{"key":"beast","doc_count":1,"p":{"value":10.0}},{"key":"net","doc_count":1,"p":{"value":10.0}},{"key":"bird","doc_count":2,"p":{"value":3.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","size":2,"order":[{"s.sum":"asc"},{"_key":"desc"}]},"aggs":{"s":{"stats":{"field":"price"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":2,"buckets":[{"key":"net","doc_count":1,"s":{"count":0,"min":null,"max":null,"avg":null,"sum":0.0}},{"key":"bird","doc_count":2,"s":{"count":1,"min":1.5,"max":1.5,"avg":1.5,"sum":1.5}}]}"#,
    ),
    (
        r#"{"terms":{"field":"price","missing":"0"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":0.0,"doc_count":2},{"key":1.5,"doc_count":1},{"key":2.0,"doc_count":1},{"key":10.25,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"price","missing":10.25}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":10.25,"doc_count":3},{"key":1.5,"doc_count":1},{"key":2.0,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"ok","order":{"_key":"desc"}},"aggs":{"t":{"terms":{"field":"tag"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1,"key_as_string":"true","doc_count":2,"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"beast","doc_count":1},{"key":"bird","doc_count":1}]}},{"key":0,"key_as_string":"false","doc_count":1,"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1}]}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","min_doc_count":2}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2}]}"#,
    ),
    (
        r#"{"histogram":{"field":"price","interval":0.5,"min_doc_count":1,"keyed":true}}"#,
        r#"{"buckets":{"1.5":{"key":1.5,"doc_count":1},"2.0":{"key":2.0,"doc_count":1},"10.0":{"key":10.0,"doc_count":1}}}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10,"extended_bounds":{"min":-30,"max":50}},"aggs":{"n":{"value_count":{"field":"price"}}}}"#,
        r#"{"buckets":[{"key":-30.0,"doc_count":0,"n":{"value":0}},{"key":-20.0,"doc_count":0,"n":{"value":0}},{"key":-10.0,"doc_count":1,"n":{"value":0}},{"key":0.0,"doc_count":1,"n":{"value":1}},{"key":10.0,"doc_count":2,"n":{"value":1}},{"key":20.0,"doc_count":0,"n":{"value":0}},{"key":30.0,"doc_count":0,"n":{"value":0}},{"key":40.0,"doc_count":1,"n":{"value":1}},{"key":50.0,"doc_count":0,"n":{"value":0}}]}"#,
    ),
    (
        r#"{"filters":{"filters":{"a":{"term":{"tag":"bird"}}},"other_bucket_key":"rest"},"aggs":{"m":{"max":{"field":"views"}}}}"#,
        r#"{"buckets":{"a":{"doc_count":2,"m":{"value":3.0}},"rest":{"doc_count":3,"m":{"value":40.0}}}}"#,
    ),
    (
        r#"{"filter":{"range":{"views":{"gte":10}}},"aggs":{"m":{"terms":{"field":"tag","size":1}}}}"#,
        r#"{"doc_count":3,"m":{"doc_count_error_upper_bound":0,"sum_other_doc_count":2,"buckets":[{"key":"Mixed","doc_count":1}]}}"#,
    ),
    (
        r#"{"filter":{"bool":{"must":[{"match":{"title":"grey heron"}}],"must_not":[{"term":{"tag":"bird"}}]}}}"#,
        r#"{"doc_count":1}"#,
    ),
    (r#"{"filter":{"query_string":{"query":"level:warn AND views:>0"}}}"#, r#"{"doc_count":1}"#),
    (
        r#"{"missing":{"field":"at"},"aggs":{"m":{"max":{"field":"views"}}}}"#,
        r#"{"doc_count":1,"m":{"value":10.0}}"#,
    ),
    (
        r#"{"date_range":{"field":"at","format":"yyyy-MM-dd","keyed":true,"ranges":[{"from":"2026-11-22||/d","to":"2026-11-23","key":"day"},{"from":"2026-12-01"}]},"aggs":{"a":{"avg":{"field":"price"}}}}"#,
        r#"{"buckets":{"day":{"from":1795305600000.0,"from_as_string":"2026-11-22","to":1795392000000.0,"to_as_string":"2026-11-23","doc_count":2,"a":{"value":1.75}},"2026-12-01-*":{"from":1796083200000.0,"from_as_string":"2026-12-01","doc_count":1,"a":{"value":10.25}}}}"#,
    ),
    (
        r#"{"max":{"field":"at","format":"yyyy"}}"#,
        r#"{"value":1796128200000.0,"value_as_string":"2026"}"#,
    ),
    (
        r#"{"percentiles":{"field":"at","percents":[100]}}"#,
        r#"{"values":{"100.0":1796128200000.0,"100.0_as_string":"2026-12-01T12:30:00.000Z"}}"#,
    ),
    (
        r#"{"stats":{"field":"views"},"meta":{"a":1}}"#,
        r#"{"meta":{"a":1},"count":5,"min":-7.0,"max":40.0,"avg":11.2,"sum":56.0}"#,
    ),
    (r#"{"cardinality":{"field":"level.keyword","precision_threshold":100}}"#, r#"{"value":4}"#),
    (
        r#"{"range":{"field":"nowhere","ranges":[{"from":1}]},"aggs":{"p":{"avg":{"field":"price"}}}}"#,
        r#"{"buckets":[{"key":"1.0-*","from":1.0,"doc_count":0,"p":{"value":null}}]}"#,
    ),
    (
        r#"{"filter":{"match_none":{}},"aggs":{"p":{"avg":{"field":"price"}},"s":{"sum":{"field":"views"}},"t":{"terms":{"field":"tag"}}}}"#,
        r#"{"doc_count":0,"p":{"value":null},"s":{"value":0.0},"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]}}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":"b.*"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2},{"key":"beast","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","exclude":"b.*"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1},{"key":"net","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":["bird","net"]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2},{"key":"net","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":["bird","net"],"exclude":["net"]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":".*e.*","exclude":"net","size":1}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"buckets":[{"key":"Mixed","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":"b"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","include":"bird|net","missing":"netto"}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2},{"key":"net","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"views","include":[10,3]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":10,"doc_count":2},{"key":3,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"views","exclude":[10]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":-7,"doc_count":1},{"key":3,"doc_count":1},{"key":40,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"price","include":[1.5]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1.5,"doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"ok","include":["true"]}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1,"key_as_string":"true","doc_count":2}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"quarter","extended_bounds":{"min":"2026-02-10","max":"2027-01-15"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-01-01T00:00:00.000Z","key":1767225600000,"doc_count":0},{"key_as_string":"2026-04-01T00:00:00.000Z","key":1775001600000,"doc_count":0},{"key_as_string":"2026-07-01T00:00:00.000Z","key":1782864000000,"doc_count":0},{"key_as_string":"2026-10-01T00:00:00.000Z","key":1790812800000,"doc_count":4},{"key_as_string":"2027-01-01T00:00:00.000Z","key":1798761600000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"month","offset":"+2d","extended_bounds":{"min":"2026-09-01","max":"2027-01-01"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-09-03T00:00:00.000Z","key":1788393600000,"doc_count":0},{"key_as_string":"2026-10-03T00:00:00.000Z","key":1790985600000,"doc_count":0},{"key_as_string":"2026-11-03T00:00:00.000Z","key":1793664000000,"doc_count":4},{"key_as_string":"2026-12-03T00:00:00.000Z","key":1796256000000,"doc_count":0},{"key_as_string":"2027-01-03T00:00:00.000Z","key":1798934400000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"week","offset":"-6h","time_zone":"Europe/Berlin","extended_bounds":{"min":"2026-10-20","max":"2026-12-10"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-10-18T18:00:00.000+02:00","key":1792339200000,"doc_count":0},{"key_as_string":"2026-10-25T18:00:00.000+01:00","key":1792947600000,"doc_count":0},{"key_as_string":"2026-11-01T18:00:00.000+01:00","key":1793552400000,"doc_count":0},{"key_as_string":"2026-11-08T18:00:00.000+01:00","key":1794157200000,"doc_count":0},{"key_as_string":"2026-11-15T18:00:00.000+01:00","key":1794762000000,"doc_count":1},{"key_as_string":"2026-11-22T18:00:00.000+01:00","key":1795366800000,"doc_count":2},{"key_as_string":"2026-11-29T18:00:00.000+01:00","key":1795971600000,"doc_count":1},{"key_as_string":"2026-12-06T18:00:00.000+01:00","key":1796576400000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"quarter","offset":"+1d","time_zone":"America/New_York","format":"yyyy-MM-dd","extended_bounds":{"min":"2026-01-01","max":"2027-01-15"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-01-02","key":1767330000000,"doc_count":0},{"key_as_string":"2026-04-02","key":1775102400000,"doc_count":0},{"key_as_string":"2026-07-02","key":1782964800000,"doc_count":0},{"key_as_string":"2026-10-02","key":1790913600000,"doc_count":4},{"key_as_string":"2027-01-02","key":1798866000000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"2d","offset":"+30h","extended_bounds":{"min":"2026-11-18T01:00:00Z","max":"2026-12-04T03:00:00Z"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-18T06:00:00.000Z","key":1794981600000,"doc_count":0},{"key_as_string":"2026-11-20T06:00:00.000Z","key":1795154400000,"doc_count":0},{"key_as_string":"2026-11-22T06:00:00.000Z","key":1795327200000,"doc_count":3},{"key_as_string":"2026-11-24T06:00:00.000Z","key":1795500000000,"doc_count":0},{"key_as_string":"2026-11-26T06:00:00.000Z","key":1795672800000,"doc_count":0},{"key_as_string":"2026-11-28T06:00:00.000Z","key":1795845600000,"doc_count":0},{"key_as_string":"2026-11-30T06:00:00.000Z","key":1796018400000,"doc_count":1},{"key_as_string":"2026-12-02T06:00:00.000Z","key":1796191200000,"doc_count":0},{"key_as_string":"2026-12-04T06:00:00.000Z","key":1796364000000,"doc_count":0}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"2d","offset":"-6h","extended_bounds":{"min":"2026-11-19T23:00:00Z","max":"2026-12-04T23:00:00Z"}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-18T18:00:00.000Z","key":1795024800000,"doc_count":0},{"key_as_string":"2026-11-20T18:00:00.000Z","key":1795197600000,"doc_count":1},{"key_as_string":"2026-11-22T18:00:00.000Z","key":1795370400000,"doc_count":2},{"key_as_string":"2026-11-24T18:00:00.000Z","key":1795543200000,"doc_count":0},{"key_as_string":"2026-11-26T18:00:00.000Z","key":1795716000000,"doc_count":0},{"key_as_string":"2026-11-28T18:00:00.000Z","key":1795888800000,"doc_count":0},{"key_as_string":"2026-11-30T18:00:00.000Z","key":1796061600000,"doc_count":1},{"key_as_string":"2026-12-02T18:00:00.000Z","key":1796234400000,"doc_count":0}]}"#,
    ),
];

/// An aggregation that is refused, the kind of the error, and the reason.
pub(crate) const REFUSED: &[(&str, &str, &str)] = &[
    (
        r#"{"terms":{"field":"title"}}"#,
        "illegal_argument_exception",
        r#"Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. Alternatively, set fielddata=true on [title] in order to load field data by uninverting the inverted index. Note that this can use significant memory."#,
    ),
    (
        r#"{"avg":{"field":"tag"}}"#,
        "illegal_argument_exception",
        r#"Field [tag] of type [keyword] is not supported for aggregation [avg]"#,
    ),
    (r#"{"terms":{"foo":1}}"#, "x_content_parse_exception", r#"[terms] unknown field [foo]"#),
    (
        r#"{"terms":{}}"#,
        "illegal_argument_exception",
        r#"Required one of fields [field, script], but none were specified. "#,
    ),
    (
        r#"{"avg":{}}"#,
        "illegal_argument_exception",
        r#"Required one of fields [field, script], but none were specified. "#,
    ),
    (
        r#"{"date_histogram":{"field":"at"}}"#,
        "illegal_argument_exception",
        r#"Invalid interval specified, must be non-null and non-empty"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","interval":"1x"}}"#,
        "illegal_argument_exception",
        r#"Unable to parse interval [1x]"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"2d"}}"#,
        "x_content_parse_exception",
        r#"[date_histogram] failed to parse field [calendar_interval]"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"1M"}}"#,
        "x_content_parse_exception",
        r#"[date_histogram] failed to parse field [fixed_interval]"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":0}}"#,
        "x_content_parse_exception",
        r#"[histogram] failed to parse field [interval]"#,
    ),
    (
        r#"{"terms":{"field":"tag","size":0}}"#,
        "x_content_parse_exception",
        r#"[terms] failed to parse field [size]"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"avg":{"field":"views"}}"#,
        "parsing_exception",
        r#"Found two aggregation type definitions in [x]: [terms] and [avg]"#,
    ),
    (r#"{"foo":{}}"#, "parsing_exception", r#"Unknown aggregation type [foo]"#),
    (r#"{}"#, "parsing_exception", r#"Missing definition for aggregation [x]"#),
    (
        r#"{"terms":{"field":"views","include":"1.*"}}"#,
        "aggregation_execution_exception",
        "Aggregation [x] cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of numeric values for include/exclude clauses used to filter numeric fields",
    ),
    (
        r#"{"terms":{"field":"views","include":["x"]}}"#,
        "number_format_exception",
        "For input string: \"x\"",
    ),
];
