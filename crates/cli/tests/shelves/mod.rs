//! Documents in two indexes, aggregations over both, and the answers of OpenSearch 2.19.

/// The mapping of each index.
pub(crate) const MAPPING: &str = r#"{"mappings":{"properties":{"title":{"type":"text"},"tag":{"type":"keyword"},"views":{"type":"long"},"price":{"type":"double"},"ok":{"type":"boolean"},"at":{"type":"date"}}}}"#;

/// Documents: the index, the id, the source.
pub(crate) const DOCUMENTS: [(&str, &str, &str); 7] = [
    (
        "shelf-a",
        "1",
        r#"{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true}"#,
    ),
    (
        "shelf-b",
        "2",
        r#"{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false}"#,
    ),
    (
        "shelf-b",
        "3",
        r#"{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"}"#,
    ),
    (
        "shelf-a",
        "4",
        r#"{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true}"#,
    ),
    ("shelf-a", "5", r#"{"title":"the wi-fi of the sea","tag":"net","views":11}"#),
    (
        "shelf-b",
        "6",
        r#"{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false}"#,
    ),
    ("shelf-a", "7", r#"{"title":"nothing","views":-50}"#),
];

/// An aggregation, and its answer over both indexes.
pub(crate) const ANSWERS: [(&str, &str); 29] = [
    (
        r#"{"stats":{"field":"price","missing":3}}"#,
        r#"{"count":7,"min":1.5,"max":10.25,"avg":4.678571428571429,"sum":32.75}"#,
    ),
    (r#"{"cardinality":{"field":"tag","missing":"bird"}}"#, r#"{"value":5}"#),
    (r#"{"value_count":{"field":"tag","missing":"x"}}"#, r#"{"value":8}"#),
    (r#"{"cardinality":{"field":"price","missing":7}}"#, r#"{"value":5}"#),
    (
        r#"{"max":{"field":"at","missing":"2027-01-01"}}"#,
        r#"{"value":1798761600000.0,"value_as_string":"2027-01-01T00:00:00.000Z"}"#,
    ),
    (r#"{"avg":{"field":"none","missing":2.5}}"#, r#"{"value":2.5}"#),
    (
        r#"{"terms":{"field":"tag","size":2,"order":{"_key":"asc"}},"aggs":{"b":{"range":{"field":"views","ranges":[{"from":0}]},"aggs":{"c":{"filter":{"exists":{"field":"title"}},"aggs":{"d":{"histogram":{"field":"views","interval":20,"min_doc_count":1},"aggs":{"e":{"date_histogram":{"field":"at","calendar_interval":"month"},"aggs":{"f":{"filters":{"filters":{"yes":{"term":{"ok":true}}}},"aggs":{"g":{"missing":{"field":"none"},"aggs":{"h":{"sum":{"field":"price","missing":7}}}}}}}}}}}}}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":3,"buckets":[{"key":"beast","doc_count":1,"b":{"buckets":[{"key":"0.0-*","from":0.0,"doc_count":1,"c":{"doc_count":1,"d":{"buckets":[{"key":0.0,"doc_count":1,"e":{"buckets":[{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":1,"g":{"doc_count":1,"h":{"value":10.25}}}}}}]}}]}}}]}},{"key":"bird","doc_count":3,"b":{"buckets":[{"key":"0.0-*","from":0.0,"doc_count":2,"c":{"doc_count":2,"d":{"buckets":[{"key":0.0,"doc_count":2,"e":{"buckets":[{"key_as_string":"2026-11-01T00:00:00.000Z","key":1793491200000,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":1,"g":{"doc_count":1,"h":{"value":1.5}}}}}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"f":{"buckets":{"yes":{"doc_count":0,"g":{"doc_count":0,"h":{"value":0.0}}}}}}]}}]}}}]}}]}"#,
    ),
    (
        r#"{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}"#,
        r#"{"hits":{"total":{"value":7,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]}]}}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"t":{"top_hits":{"size":1,"sort":[{"views":"desc"}],"_source":["views"]}},"m":{"max":{"field":"views"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"views":12},"sort":[12]}]}},"m":{"value":12.0}},{"key":"beast","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_score":null,"_source":{"views":10},"sort":[10]}]}},"m":{"value":10.0}},{"key":"mixed","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"views":40},"sort":[40]}]}},"m":{"value":40.0}},{"key":"net","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"5","_score":null,"_source":{"views":11},"sort":[11]}]}},"m":{"value":11.0}},{"key":"sea","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"views":-7},"sort":[-7]}]}},"m":{"value":-7.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag","missing":"none","order":{"_key":"asc"}},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"beast","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}},{"key":"bird","doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key":"mixed","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]}]}}},{"key":"net","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"5","_score":null,"_source":{"title":"the wi-fi of the sea","tag":"net","views":11},"sort":[11]}]}}},{"key":"none","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"7","_score":null,"_source":{"title":"nothing","views":-50},"sort":[-50]}]}}},{"key":"sea","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]}]}}}]}"#,
    ),
    (
        r#"{"terms":{"field":"ok"},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":0,"key_as_string":"false","doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]}]}}},{"key":1,"key_as_string":"true","doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}}]}"#,
    ),
    (
        r#"{"terms":{"field":"views","order":{"_key":"asc"}},"aggs":{"t":{"top_hits":{"_source":false,"version":true,"docvalue_fields":["views"],"sort":["views"]}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":-50,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"7","_version":1,"_score":null,"fields":{"views":[-50]},"sort":[-50]}]}}},{"key":-7,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_version":1,"_score":null,"fields":{"views":[-7]},"sort":[-7]}]}}},{"key":3,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"1","_version":1,"_score":null,"fields":{"views":[3]},"sort":[3]}]}}},{"key":10,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_version":1,"_score":null,"fields":{"views":[10]},"sort":[10]}]}}},{"key":11,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"5","_version":1,"_score":null,"fields":{"views":[11]},"sort":[11]}]}}},{"key":12,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_version":1,"_score":null,"fields":{"views":[12]},"sort":[12]}]}}},{"key":40,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_version":1,"_score":null,"fields":{"views":[40]},"sort":[40]}]}}}]}"#,
    ),
    (
        r#"{"terms":{"field":"price","order":{"_key":"asc"}},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1.5,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key":2.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]}]}}},{"key":10.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]}]}}},{"key":10.25,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"key":-50.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"7","_score":null,"_source":{"title":"nothing","views":-50},"sort":[-50]}]}}},{"key":-40.0,"doc_count":0,"t":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":-30.0,"doc_count":0,"t":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":-20.0,"doc_count":0,"t":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":-10.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]}]}}},{"key":0.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key":10.0,"doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"5","_score":null,"_source":{"title":"the wi-fi of the sea","tag":"net","views":11},"sort":[11]}]}}},{"key":20.0,"doc_count":0,"t":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":30.0,"doc_count":0,"t":{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":40.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]}]}}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10,"offset":3,"keyed":true,"min_doc_count":1},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":{"-57.0":{"key":-57.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"7","_score":null,"_source":{"title":"nothing","views":-50},"sort":[-50]}]}}},"-7.0":{"key":-7.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]}]}}},"3.0":{"key":3.0,"doc_count":4,"t":{"hits":{"total":{"value":4,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"5","_score":null,"_source":{"title":"the wi-fi of the sea","tag":"net","views":11},"sort":[11]}]}}},"33.0":{"key":33.0,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]}]}}}}}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"1d","min_doc_count":1},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000Z","key":1795305600000,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]}]}}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","calendar_interval":"month","offset":"+1d","time_zone":"Europe/Berlin"},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-02T00:00:00.000+01:00","key":1793574000000,"doc_count":5,"t":{"hits":{"total":{"value":5,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]}]}}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"12h","min_doc_count":1,"time_zone":"+01:00"},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-22T00:00:00.000+01:00","key":1795302000000,"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key_as_string":"2026-11-23T00:00:00.000+01:00","key":1795388400000,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]}]}}},{"key_as_string":"2026-12-01T12:00:00.000+01:00","key":1796122800000,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}}]}"#,
    ),
    (
        r#"{"range":{"field":"views","ranges":[{"to":3},{"from":3,"to":11},{"from":11,"key":"big"}]},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"key":"*-3.0","to":3.0,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"title":"herring gull","tag":["bird","sea"],"views":-7,"at":"2026-11-23T00:00:00Z"},"sort":[-7]},{"_index":"shelf-a","_id":"7","_score":null,"_source":{"title":"nothing","views":-50},"sort":[-50]}]}}},{"key":"3.0-11.0","from":3.0,"to":11.0,"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"key":"big","from":11.0,"doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]}]}}}]}"#,
    ),
    (
        r#"{"date_range":{"field":"at","keyed":true,"ranges":[{"to":"2026-11-23"},{"from":"2026-11-23"}]},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":{"*-2026-11-23T00:00:00.000Z":{"to":1.795392E12,"to_as_string":"2026-11-23T00:00:00.000Z","doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},"2026-11-23T00:00:00.000Z-*":{"from":1.795392E12,"from_as_string":"2026-11-23T00:00:00.000Z","doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}}}}"#,
    ),
    (
        r#"{"filter":{"match":{"title":"grey"}},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}}"#,
    ),
    (
        r#"{"filters":{"filters":{"a":{"term":{"tag":"bird"}},"b":{"match":{"title":"wolf"}}},"other_bucket":true},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":{"a":{"doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},"b":{"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-a","_id":"4","_score":null,"_source":{"title":"wolf","tag":"beast","views":10,"price":10.25,"at":"2026-12-01T12:30:00Z","ok":true},"sort":[10]}]}}},"_other_":{"doc_count":2,"t":{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-a","_id":"5","_score":null,"_source":{"title":"the wi-fi of the sea","tag":"net","views":11},"sort":[11]},{"_index":"shelf-a","_id":"7","_score":null,"_source":{"title":"nothing","views":-50},"sort":[-50]}]}}}}}"#,
    ),
    (
        r#"{"filters":{"filters":[{"term":{"tag":"bird"}}],"other_bucket":true},"aggs":{"t":{"top_hits":{"size":2,"sort":[{"views":"desc"}]}}}}"#,
        r#"{"buckets":[{"doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"6","_score":null,"_source":{"title":"a kingfisher","tag":"bird","views":12,"price":1e1,"at":"2026-12-01T13:30:00Z","ok":false},"sort":[12]},{"_index":"shelf-a","_id":"1","_score":null,"_source":{"title":"the grey heron","tag":"bird","views":3,"price":1.50,"at":"2026-11-22T10:00:00Z","ok":true},"sort":[3]}]}}},{"doc_count":4,"t":{"hits":{"total":{"value":4,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"2","_score":null,"_source":{"title":"a grey wolf","tag":"mixed","views":40,"price":2.0,"at":"2026-11-22T23:59:59.999Z","ok":false},"sort":[40]},{"_index":"shelf-a","_id":"5","_score":null,"_source":{"title":"the wi-fi of the sea","tag":"net","views":11},"sort":[11]}]}}}]}"#,
    ),
    (
        r#"{"missing":{"field":"tag"},"aggs":{"t":{"top_hits":{}}}}"#,
        r#"{"doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":1.0,"hits":[{"_index":"shelf-a","_id":"7","_score":1.0,"_source":{"title":"nothing","views":-50}}]}}}"#,
    ),
    (
        r#"{"terms":{"field":"tag","order":{"_key":"asc"}},"aggs":{"o":{"terms":{"field":"ok"},"aggs":{"t":{"top_hits":{"from":1,"size":1,"sort":["at"]}}}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"beast","doc_count":1,"o":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":1,"key_as_string":"true","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[]}}}]}},{"key":"bird","doc_count":3,"o":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":0,"key_as_string":"false","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[]}}},{"key":1,"key_as_string":"true","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[]}}}]}},{"key":"mixed","doc_count":1,"o":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":0,"key_as_string":"false","doc_count":1,"t":{"hits":{"total":{"value":1,"relation":"eq"},"max_score":null,"hits":[]}}}]}},{"key":"net","doc_count":1,"o":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]}},{"key":"sea","doc_count":1,"o":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"t":{"top_hits":{"size":1,"sort":["views"],"_source":"views"}},"s":{"bucket_selector":{"buckets_path":{"c":"_count"},"script":"params.c > 1"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":3,"t":{"hits":{"total":{"value":3,"relation":"eq"},"max_score":null,"hits":[{"_index":"shelf-b","_id":"3","_score":null,"_source":{"views":-7},"sort":[-7]}]}}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","fixed_interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}},"d":{"derivative":{"buckets_path":"s","unit":"1d"}},"c":{"cumulative_sum":{"buckets_path":"s"}},"m":{"moving_fn":{"buckets_path":"s","window":2,"script":"MovingFunctions.unweightedAvg(values)"}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0},"c":{"value":43.0},"m":{"value":null}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0},"d":{"value":-50.0,"normalized_value":-12.5},"c":{"value":36.0},"m":{"value":43.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0},"d":{"value":null,"normalized_value":null},"c":{"value":36.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":2,"s":{"value":22.0},"d":{"value":null,"normalized_value":null},"c":{"value":58.0},"m":{"value":18.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"p":{"avg":{"field":"price"}},"n":{"sum":{"field":"views"}},"b":{"bucket_script":{"buckets_path":{"p":"p","n":"n"},"script":"params.p * params.n / 2"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":3,"p":{"value":5.75},"n":{"value":8.0},"b":{"value":23.0}},{"key":"beast","doc_count":1,"p":{"value":10.25},"n":{"value":10.0},"b":{"value":51.25}},{"key":"mixed","doc_count":1,"p":{"value":2.0},"n":{"value":40.0},"b":{"value":40.0}},{"key":"net","doc_count":1,"p":{"value":null},"n":{"value":11.0}},{"key":"sea","doc_count":1,"p":{"value":null},"n":{"value":-7.0}}]}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"terms":{"field":"tag"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"max_bucket":{"buckets_path":"h>s"}}}}"#,
        r#"{"doc_count":7,"h":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":3,"s":{"value":8.0}},{"key":"beast","doc_count":1,"s":{"value":10.0}},{"key":"mixed","doc_count":1,"s":{"value":40.0}},{"key":"net","doc_count":1,"s":{"value":11.0}},{"key":"sea","doc_count":1,"s":{"value":-7.0}}]},"m":{"value":40.0,"keys":["mixed"]}}"#,
    ),
];

/// An aggregation that is refused, and the reason.
pub(crate) const REFUSED: [(&str, &str); 6] = [
    (
        r#"{"top_hits":{"size":101}}"#,
        "Top hits result window is too large, the top hits aggregator [x]'s from + size must be less than or equal to: [100] but was [101]. This limit can be set by changing the [index.max_inner_result_window] index level setting.",
    ),
    (r#"{"top_hits":{"bogus":1}}"#, "Unknown key for a VALUE_NUMBER in [bogus]."),
    (
        r#"{"top_hits":{"size":0}}"#,
        "numHits must be > 0; please use TotalHitCountCollectorManager if you just need the total hit count",
    ),
    (
        r#"{"top_hits":3}"#,
        "Expected [START_OBJECT] under [top_hits], but got a [VALUE_NUMBER] in [x]",
    ),
    (r#"{"top_hits":{"sort":"nope"}}"#, "No mapping found for [nope] in order to sort on"),
    (
        r#"{"top_hits":{},"aggs":{"z":{"max":{"field":"views"}}}}"#,
        "Aggregator [x] of type [top_hits] cannot accept sub-aggregations",
    ),
];
