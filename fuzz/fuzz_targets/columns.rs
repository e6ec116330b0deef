//! The fuzzer's way into `spirit_fuzz::columns`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spirit_fuzz::columns(data));
