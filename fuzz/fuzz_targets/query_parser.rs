//! The fuzzer's way into `spirit_fuzz::query_parser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spirit_fuzz::query_parser(data));
