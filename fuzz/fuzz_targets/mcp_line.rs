#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_blue::testing::fuzz::run("mcp_line", bytes));
