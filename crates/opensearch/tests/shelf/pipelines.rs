//! Pipelines over the [shelf](super), and the answers of OpenSearch 2.19.

/// An aggregation with a pipeline, and its answer.
pub(crate) const PIPELINES: &[(&str, &str)] = &[
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"_count"}},"e":{"derivative":{"buckets_path":"d"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1},{"key":0.0,"doc_count":1,"d":{"value":0.0}},{"key":10.0,"doc_count":2,"d":{"value":1.0},"e":{"value":1.0}},{"key":20.0,"doc_count":0,"d":{"value":-2.0},"e":{"value":null}},{"key":30.0,"doc_count":0,"d":{"value":0.0},"e":{"value":null}},{"key":40.0,"doc_count":1,"d":{"value":1.0},"e":{"value":null}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"s":{"sum":{"field":"price"}},"d":{"derivative":{"buckets_path":"s"}},"z":{"derivative":{"buckets_path":"s","gap_policy":"insert_zeros"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1,"s":{"value":0.0}},{"key":0.0,"doc_count":1,"s":{"value":1.5},"d":{"value":1.5},"z":{"value":1.5}},{"key":10.0,"doc_count":2,"s":{"value":10.25},"d":{"value":8.75},"z":{"value":8.75}},{"key":20.0,"doc_count":0,"s":{"value":0.0},"d":{"value":null},"z":{"value":-10.25}},{"key":30.0,"doc_count":0,"s":{"value":0.0},"d":{"value":null},"z":{"value":0.0}},{"key":40.0,"doc_count":1,"s":{"value":2.0},"d":{"value":null},"z":{"value":2.0}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"stats":{"field":"views"}},"e":{"derivative":{"buckets_path":"d","gap_policy":"skip"}},"d":{"derivative":{"buckets_path":"s.avg","unit":"1h"}},"w":{"derivative":{"buckets_path":"_count","unit":"month"}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"count":2,"min":3.0,"max":40.0,"avg":21.5,"sum":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"count":1,"min":-7.0,"max":-7.0,"avg":-7.0,"sum":-7.0},"d":{"value":-28.5,"normalized_value":-0.296875},"w":{"value":-1.0,"normalized_value":-7.60921875}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"count":0,"min":null,"max":null,"avg":null,"sum":0.0},"d":{"value":null,"normalized_value":null},"e":{"value":null},"w":{"value":-1.0,"normalized_value":-7.60921875}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"count":1,"min":10.0,"max":10.0,"avg":10.0,"sum":10.0},"d":{"value":null,"normalized_value":null},"e":{"value":null},"w":{"value":1.0,"normalized_value":7.60921875}}]}"#,
    ),
    (
        r#"{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"avg":{"field":"views"}},"c":{"cumulative_sum":{"buckets_path":"s"}}}}"#,
        r#"{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":21.5},"c":{"value":21.5}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0},"c":{"value":14.5}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":null},"c":{"value":14.5}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0},"c":{"value":24.5}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"s":{"sum":{"field":"price"}},"c":{"serial_diff":{"buckets_path":"s","lag":2}},"z":{"serial_diff":{"buckets_path":"_count","gap_policy":"insert_zeros"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1,"s":{"value":0.0}},{"key":0.0,"doc_count":1,"s":{"value":1.5},"z":{"value":0.0}},{"key":10.0,"doc_count":2,"s":{"value":10.25},"c":{"value":10.25},"z":{"value":1.0}},{"key":20.0,"doc_count":0,"s":{"value":0.0},"z":{"value":-2.0}},{"key":30.0,"doc_count":0,"s":{"value":0.0},"z":{"value":0.0}},{"key":40.0,"doc_count":1,"s":{"value":2.0},"z":{"value":1.0}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"m":{"moving_fn":{"buckets_path":"_count","window":2,"script":"MovingFunctions.unweightedAvg(values)"}},"n":{"moving_fn":{"buckets_path":"_count","window":3,"shift":1,"script":"MovingFunctions.max(values)"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1,"m":{"value":null},"n":{"value":1.0}},{"key":0.0,"doc_count":1,"m":{"value":1.0},"n":{"value":1.0}},{"key":10.0,"doc_count":2,"m":{"value":1.0},"n":{"value":2.0}},{"key":20.0,"doc_count":0,"m":{"value":1.5},"n":{"value":2.0}},{"key":30.0,"doc_count":0,"m":{"value":1.0},"n":{"value":2.0}},{"key":40.0,"doc_count":1,"m":{"value":0.0},"n":{"value":1.0}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"a":{"moving_fn":{"buckets_path":"_count","window":3,"script":"MovingFunctions.min(values)"}},"b":{"moving_fn":{"buckets_path":"_count","window":3,"script":"MovingFunctions.sum(values)"}},"c":{"moving_fn":{"buckets_path":"_count","window":3,"script":"MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))"}},"d":{"moving_fn":{"buckets_path":"_count","window":3,"shift":-1,"script":"MovingFunctions.linearWeightedAvg(values)"}},"e":{"moving_fn":{"buckets_path":"_count","window":3,"script":"return MovingFunctions.ewma(values, 0.5);"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1,"a":{"value":null},"b":{"value":0.0},"c":{"value":null},"d":{"value":null},"e":{"value":null}},{"key":0.0,"doc_count":1,"a":{"value":1.0},"b":{"value":1.0},"c":{"value":0.0},"d":{"value":null},"e":{"value":1.0}},{"key":10.0,"doc_count":2,"a":{"value":1.0},"b":{"value":2.0},"c":{"value":0.0},"d":{"value":0.5},"e":{"value":1.0}},{"key":20.0,"doc_count":0,"a":{"value":1.0},"b":{"value":4.0},"c":{"value":0.4714045207910317},"d":{"value":0.75},"e":{"value":1.5}},{"key":30.0,"doc_count":0,"a":{"value":0.0},"b":{"value":3.0},"c":{"value":0.816496580927726},"d":{"value":1.2857142857142858},"e":{"value":0.75}},{"key":40.0,"doc_count":1,"a":{"value":0.0},"b":{"value":2.0},"c":{"value":0.9428090415820634},"d":{"value":0.7142857142857143},"e":{"value":0.5}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"s":{"max":{"field":"price"}},"m":{"moving_fn":{"buckets_path":"s","window":2,"script":"MovingFunctions.max(values)"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1,"s":{"value":null}},{"key":0.0,"doc_count":1,"s":{"value":1.5},"m":{"value":null}},{"key":10.0,"doc_count":2,"s":{"value":10.25},"m":{"value":1.5}},{"key":20.0,"doc_count":0,"s":{"value":null}},{"key":30.0,"doc_count":0,"s":{"value":null}},{"key":40.0,"doc_count":1,"s":{"value":2.0},"m":{"value":10.25}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"m":{"moving_avg":{"buckets_path":"_count"}},"n":{"moving_avg":{"buckets_path":"_count","window":2,"model":"simple","minimize":false}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1},{"key":0.0,"doc_count":1,"m":{"value":1.0},"n":{"value":1.0}},{"key":10.0,"doc_count":2,"m":{"value":1.0},"n":{"value":1.0}},{"key":20.0,"doc_count":0,"m":{"value":1.3333333333333333},"n":{"value":1.5}},{"key":30.0,"doc_count":0,"m":{"value":1.0},"n":{"value":1.0}},{"key":40.0,"doc_count":1,"m":{"value":0.8},"n":{"value":0.0}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"l":{"moving_avg":{"buckets_path":"_count","model":"linear"}},"e":{"moving_avg":{"buckets_path":"_count","model":"ewma","settings":{"alpha":0.5}}},"f":{"moving_avg":{"buckets_path":"_count","model":"ewma"}}}}"#,
        r#"{"buckets":[{"key":-10.0,"doc_count":1},{"key":0.0,"doc_count":1,"l":{"value":0.5},"e":{"value":1.0},"f":{"value":1.0}},{"key":10.0,"doc_count":2,"l":{"value":0.75},"e":{"value":1.0},"f":{"value":1.0}},{"key":20.0,"doc_count":0,"l":{"value":1.2857142857142858},"e":{"value":1.5},"f":{"value":1.2999999999999998}},{"key":30.0,"doc_count":0,"l":{"value":0.8181818181818182},"e":{"value":0.75},"f":{"value":0.9099999999999998}},{"key":40.0,"doc_count":1,"l":{"value":0.5625},"e":{"value":0.375},"f":{"value":0.6369999999999998}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"s":{"sum":{"field":"views"}},"n":{"value_count":{"field":"views"}},"b":{"bucket_script":{"buckets_path":{"s":"s","n":"n.value","c":"_count"},"script":"params.s / params.n + (2 - 1/2) * -params.c"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"s":{"value":-4.0},"n":{"value":2},"b":{"value":-6.0}},{"key":"Mixed","doc_count":1,"s":{"value":40.0},"n":{"value":1},"b":{"value":38.0}},{"key":"beast","doc_count":1,"s":{"value":10.0},"n":{"value":1},"b":{"value":8.0}},{"key":"net","doc_count":1,"s":{"value":10.0},"n":{"value":1},"b":{"value":8.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"p":{"avg":{"field":"price"}},"b":{"bucket_script":{"buckets_path":{"p":"p"},"script":{"source":"params.p * 100"}}},"z":{"bucket_script":{"buckets_path":{"p":"p"},"gap_policy":"insert_zeros","script":{"inline":"params.p+1","lang":"painless"}}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"p":{"value":1.5},"b":{"value":150.0},"z":{"value":2.5}},{"key":"Mixed","doc_count":1,"p":{"value":2.0},"b":{"value":200.0},"z":{"value":3.0}},{"key":"beast","doc_count":1,"p":{"value":10.25},"b":{"value":1025.0},"z":{"value":11.25}},{"key":"net","doc_count":1,"p":{"value":null},"z":{"value":1.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"b":{"bucket_script":{"buckets_path":["_count"],"script":"params._value0 * 2"}},"c":{"bucket_script":{"buckets_path":"_count","script":"params._value * 2"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"b":{"value":4.0},"c":{"value":4.0}},{"key":"Mixed","doc_count":1,"b":{"value":2.0},"c":{"value":2.0}},{"key":"beast","doc_count":1,"b":{"value":2.0},"c":{"value":2.0}},{"key":"net","doc_count":1,"b":{"value":2.0},"c":{"value":2.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"b":{"bucket_script":{"buckets_path":{"c":"_count"},"script":"params.c / 0"}},"d":{"bucket_script":{"buckets_path":{"c":"_count"},"script":"7/2"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"b":{"value":null},"d":{"value":3.0}},{"key":"Mixed","doc_count":1,"b":{"value":null},"d":{"value":3.0}},{"key":"beast","doc_count":1,"b":{"value":null},"d":{"value":3.0}},{"key":"net","doc_count":1,"b":{"value":null},"d":{"value":3.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"b":{"bucket_selector":{"buckets_path":{"c":"_count"},"script":"params.c > 1"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"p":{"avg":{"field":"price"}},"b":{"bucket_selector":{"buckets_path":{"c":"p"},"script":"params.c > 2 || params.c < 1.6"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"p":{"value":1.5}},{"key":"beast","doc_count":1,"p":{"value":10.25}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"f":{"filter":{"range":{"views":{"gte":3}}},"aggs":{"s":{"sum":{"field":"views"}}}},"b":{"bucket_script":{"buckets_path":{"s":"f>s","c":"f>_count"},"script":"params.s + params.c"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"f":{"doc_count":1,"s":{"value":3.0}},"b":{"value":4.0}},{"key":"Mixed","doc_count":1,"f":{"doc_count":1,"s":{"value":40.0}},"b":{"value":41.0}},{"key":"beast","doc_count":1,"f":{"doc_count":1,"s":{"value":10.0}},"b":{"value":11.0}},{"key":"net","doc_count":1,"f":{"doc_count":1,"s":{"value":10.0}},"b":{"value":11.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"s":{"sum":{"field":"views"}},"b":{"bucket_sort":{"sort":[{"s":{"order":"desc"}}],"size":2}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1,"s":{"value":40.0}},{"key":"beast","doc_count":1,"s":{"value":10.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"s":{"avg":{"field":"price"}},"b":{"bucket_sort":{"sort":["s"],"from":1}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1,"s":{"value":2.0}},{"key":"beast","doc_count":1,"s":{"value":10.25}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"b":{"bucket_sort":{"from":1,"size":2}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"Mixed","doc_count":1},{"key":"beast","doc_count":1}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"e":{"extended_stats":{"field":"views"}},"b":{"bucket_script":{"buckets_path":{"c":"e.std_deviation","u":"e[std_upper]"},"script":"params.c+params.u"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"e":{"count":2,"min":-7.0,"max":3.0,"avg":-2.0,"sum":-4.0,"sum_of_squares":58.0,"variance":25.0,"variance_population":25.0,"variance_sampling":50.0,"std_deviation":5.0,"std_deviation_population":5.0,"std_deviation_sampling":7.0710678118654755,"std_deviation_bounds":{"upper":8.0,"lower":-12.0,"upper_population":8.0,"lower_population":-12.0,"upper_sampling":12.142135623730951,"lower_sampling":-16.14213562373095}},"b":{"value":13.0}},{"key":"Mixed","doc_count":1,"e":{"count":1,"min":40.0,"max":40.0,"avg":40.0,"sum":40.0,"sum_of_squares":1600.0,"variance":0.0,"variance_population":0.0,"variance_sampling":"NaN","std_deviation":0.0,"std_deviation_population":0.0,"std_deviation_sampling":"NaN","std_deviation_bounds":{"upper":40.0,"lower":40.0,"upper_population":40.0,"lower_population":40.0,"upper_sampling":"NaN","lower_sampling":"NaN"}},"b":{"value":40.0}},{"key":"beast","doc_count":1,"e":{"count":1,"min":10.0,"max":10.0,"avg":10.0,"sum":10.0,"sum_of_squares":100.0,"variance":0.0,"variance_population":0.0,"variance_sampling":"NaN","std_deviation":0.0,"std_deviation_population":0.0,"std_deviation_sampling":"NaN","std_deviation_bounds":{"upper":10.0,"lower":10.0,"upper_population":10.0,"lower_population":10.0,"upper_sampling":"NaN","lower_sampling":"NaN"}},"b":{"value":10.0}},{"key":"net","doc_count":1,"e":{"count":1,"min":10.0,"max":10.0,"avg":10.0,"sum":10.0,"sum_of_squares":100.0,"variance":0.0,"variance_population":0.0,"variance_sampling":"NaN","std_deviation":0.0,"std_deviation_population":0.0,"std_deviation_sampling":"NaN","std_deviation_bounds":{"upper":10.0,"lower":10.0,"upper_population":10.0,"lower_population":10.0,"upper_sampling":"NaN","lower_sampling":"NaN"}},"b":{"value":10.0}}]}"#,
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"p":{"percentiles":{"field":"views","percents":[50]}},"b":{"bucket_script":{"buckets_path":{"c":"p[50.0]"},"script":"params.c"}}}}"#,
        r#"{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"bird","doc_count":2,"p":{"values":{"50.0":-2.0}},"b":{"value":-2.0}},{"key":"Mixed","doc_count":1,"p":{"values":{"50.0":40.0}},"b":{"value":40.0}},{"key":"beast","doc_count":1,"p":{"values":{"50.0":10.0}},"b":{"value":10.0}},{"key":"net","doc_count":1,"p":{"values":{"50.0":10.0}},"b":{"value":10.0}}]}"#,
    ),
    (
        r#"{"histogram":{"field":"views","interval":10,"keyed":true},"aggs":{"d":{"derivative":{"buckets_path":"_count"},"meta":{"a":1}}}}"#,
        r#"{"buckets":{"-10.0":{"key":-10.0,"doc_count":1},"0.0":{"key":0.0,"doc_count":1,"d":{"meta":{"a":1},"value":0.0}},"10.0":{"key":10.0,"doc_count":2,"d":{"meta":{"a":1},"value":1.0}},"20.0":{"key":20.0,"doc_count":0,"d":{"meta":{"a":1},"value":-2.0}},"30.0":{"key":30.0,"doc_count":0,"d":{"meta":{"a":1},"value":0.0}},"40.0":{"key":40.0,"doc_count":1,"d":{"meta":{"a":1},"value":1.0}}}}"#,
    ),
    (
        r#"{"filters":{"filters":{"a":{"term":{"tag":"bird"}}}},"aggs":{"b":{"bucket_script":{"buckets_path":{"c":"_count"},"script":"params.c*2"}}}}"#,
        r#"{"buckets":{"a":{"doc_count":2,"b":{"value":4.0}}}}"#,
    ),
    (
        r#"{"histogram":{"field":"nope","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"_count"}}}}"#,
        r#"{"buckets":[]}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"max_bucket":{"buckets_path":"h>s"}},"z":{"max_bucket":{"buckets_path":"h>_count"}}}}"#,
        r#"{"doc_count":5,"h":{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0}}]},"m":{"value":43.0,"keys":["2026-11-19T00:00:00.000Z"]},"z":{"value":2.0,"keys":["2026-11-19T00:00:00.000Z"]}}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"min_bucket":{"buckets_path":"h>s"}},"z":{"min_bucket":{"buckets_path":"h>_count"}}}}"#,
        r#"{"doc_count":5,"h":{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0}}]},"m":{"value":-7.0,"keys":["2026-11-23T00:00:00.000Z"]},"z":{"value":0.0,"keys":["2026-11-27T00:00:00.000Z"]}}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"avg_bucket":{"buckets_path":"h>s"}},"z":{"avg_bucket":{"buckets_path":"h>_count"}}}}"#,
        r#"{"doc_count":5,"h":{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0}}]},"m":{"value":15.333333333333334},"z":{"value":1.0}}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"sum_bucket":{"buckets_path":"h>s"}},"z":{"sum_bucket":{"buckets_path":"h>_count"}}}}"#,
        r#"{"doc_count":5,"h":{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0}}]},"m":{"value":46.0},"z":{"value":4.0}}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"date_histogram":{"field":"at","interval":"4d"},"aggs":{"s":{"sum":{"field":"views"}}}},"m":{"stats_bucket":{"buckets_path":"h>s"}},"z":{"stats_bucket":{"buckets_path":"h>_count"}}}}"#,
        r#"{"doc_count":5,"h":{"buckets":[{"key_as_string":"2026-11-19T00:00:00.000Z","key":1795046400000,"doc_count":2,"s":{"value":43.0}},{"key_as_string":"2026-11-23T00:00:00.000Z","key":1795392000000,"doc_count":1,"s":{"value":-7.0}},{"key_as_string":"2026-11-27T00:00:00.000Z","key":1795737600000,"doc_count":0,"s":{"value":0.0}},{"key_as_string":"2026-12-01T00:00:00.000Z","key":1796083200000,"doc_count":1,"s":{"value":10.0}}]},"m":{"count":3,"min":-7.0,"max":43.0,"avg":15.333333333333334,"sum":46.0},"z":{"count":4,"min":0.0,"max":2.0,"avg":1.0,"sum":4.0}}"#,
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"m":{"max_bucket":{"buckets_path":"h>_count"}},"h":{"terms":{"field":"views"}},"n":{"max_bucket":{"buckets_path":"z>_count"}},"z":{"terms":{"field":"nope"}}}}"#,
        r#"{"doc_count":5,"h":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":10,"doc_count":2},{"key":-7,"doc_count":1},{"key":3,"doc_count":1},{"key":40,"doc_count":1}]},"z":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[]},"m":{"value":2.0,"keys":["10"]},"n":{"value":null,"keys":[]}}"#,
    ),
];

/// A pipeline that is refused, the kind of the error, and its reason.
pub(crate) const REFUSED: &[(&str, &str, &str)] = &[
    (
        r#"{"terms":{"field":"tag"},"aggs":{"d":{"derivative":{"buckets_path":"_count"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: derivative aggregation [d] must have a histogram, date_histogram or auto_date_histogram as parent;",
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"d":{"cumulative_sum":{"buckets_path":"_count"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: cumulative_sum aggregation [d] must have a histogram, date_histogram or auto_date_histogram as parent;",
    ),
    (
        r#"{"derivative":{"buckets_path":"_count"}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: derivative aggregation [x] must have a histogram, date_histogram or auto_date_histogram as parent but doesn't have a parent;",
    ),
    (
        r#"{"bucket_script":{"buckets_path":{"c":"_count"},"script":"1"}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: bucket_script aggregation [x] must be declared inside of another aggregation;",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"nope"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: No aggregation found for path [nope];",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{}}}}"#,
        "parsing_exception",
        "Missing required field [buckets_path] for derivative aggregation [d]",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"_count","bogus":1}}}}"#,
        "parsing_exception",
        "Unexpected token VALUE_NUMBER in [d].",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"_count","gap_policy":"x"}}}}"#,
        "parsing_exception",
        "Invalid gap policy: [x], accepted values: [insert_zeros, skip]",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"derivative":{"buckets_path":"_count"},"aggs":{"z":{"max":{"field":"views"}}}}}}"#,
        "illegal_argument_exception",
        "Aggregation [d] cannot define sub-aggregations",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10,"min_doc_count":1},"aggs":{"d":{"moving_fn":{"buckets_path":"_count","window":2,"script":"MovingFunctions.max(values)"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: parent histogram of moving_fn aggregation [d] must have min_doc_count of 0;",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"moving_fn":{"buckets_path":"_count","script":"MovingFunctions.max(values)"}}}}"#,
        "illegal_argument_exception",
        "Required [window]",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"moving_fn":{"buckets_path":"_count","window":2}}}}"#,
        "illegal_argument_exception",
        "Required [script]",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"serial_diff":{"buckets_path":"_count","lag":0}}}}"#,
        "parsing_exception",
        "Lag must be a positive, non-zero integer.  Value supplied was0 in [d]: [lag].",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"moving_avg":{"buckets_path":"_count","model":"x"}}}}"#,
        "parsing_exception",
        "no [moving_avg_model] registered for [x]",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"d":{"moving_avg":{"buckets_path":"_count","predict":0}}}}"#,
        "parsing_exception",
        "[predict] value must be a positive integer.  Value supplied was [0] in [d].",
    ),
    (
        r#"{"histogram":{"field":"views","interval":10},"aggs":{"a":{"derivative":{"buckets_path":"b"}},"b":{"derivative":{"buckets_path":"a"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: Cyclical dependency found with pipeline aggregator [a];",
    ),
    (
        r#"{"terms":{"field":"tag"},"aggs":{"b":{"bucket_script":{"buckets_path":{"c":"_count"}}}}}"#,
        "illegal_argument_exception",
        "Required [script]",
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"terms":{"field":"tag"}},"m":{"max_bucket":{"buckets_path":"h>nope"}}}}"#,
        "action_request_validation_exception",
        "Validation Failed: 1: No aggregation [nope] found for path [h>nope];",
    ),
    (
        r#"{"filter":{"match_all":{}},"aggs":{"h":{"terms":{"field":"tag"}},"m":{"max_bucket":{}}}}"#,
        "parsing_exception",
        "Missing required field [buckets_path] for aggregation [m]",
    ),
];
