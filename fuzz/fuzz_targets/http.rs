//! The fuzzer's way into `spirit_fuzz::http`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spirit_fuzz::http(data));
