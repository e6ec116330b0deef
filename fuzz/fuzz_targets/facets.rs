//! The fuzzer's way into `spirit_fuzz::facets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spirit_fuzz::facets(data));
