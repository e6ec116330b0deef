//! Segments, dictionary, descriptor table and snapshots.
