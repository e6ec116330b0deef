//! The process: its memory, its open files, its start. Names are those of Prometheus' own clients.

use std::fs;

use super::text::Text;

pub(super) fn write(text: &mut Text, started_at: f64) {
    let at = "Time at which the process started, in seconds since 1970";
    text.gauge("process_start_time_seconds", at, &[(&[], started_at)]);
    if let Some(bytes) = resident_bytes() {
        text.gauge("process_resident_memory_bytes", "Resident memory", &[(&[], bytes as f64)]);
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // The folder itself is open meanwhile.
        let open = files.count().saturating_sub(1);
        text.gauge("process_open_fds", "Open files and connections", &[(&[], open as f64)]);
    }
}

/// Returns the resident memory (`VmRSS` in `/proc/self/status`).
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}
