//! Backups of an index: its state at one point of its operation order, in one file.
//!
//! A backup is made by reading alone, while the process that has the index open goes on.
//! `docs/backup.md` has the protocol and its argument.

use std::path::Path;
use std::time::Duration;

use spirit_index::backup::CopyError;
use spirit_index::backup::Early;
use spirit_index::backup::{FrameKind, FrameWriter, Sink};
use spirit_index::backup::{Point, Source};
use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_index::ground::Corrupt as Damage;
use spirit_index::ground::Entry;
use spirit_mem::Region;

use crate::backup::error::BackupError;
use crate::backup::image::{Image, is_logged};
use crate::backup::new_file::NewFile;
use crate::backup::report::Report;
use crate::backup::{Backup, Progress};
use crate::config::durability::Mode;
use crate::config::error::OpenError;
use crate::index::Index;
use crate::storage::fields::{damaged, read_beside_writer};
use crate::storage::trust;
use crate::storage::trust::CLOSED;

/// The most writers that may open the index anew while it is copied.
const STARTS_MAX: usize = 5;
/// The most attempts to read the logs before they are cut off.
const POINTS_MAX: usize = 1000;
/// The number of waits for a writer that is starting, and the length of one.
const START_WAITS: (u32, Duration) = (100, Duration::from_millis(10));

impl Backup<'_> {
    /// Writes a backup of the index in `directory` to this file. The index may be open.
    ///
    /// The backup holds every operation that was acknowledged before the call. It may hold
    /// operations that come while it begins. Each of those comes with all operations that were
    /// acknowledged before its own call. No operation waits for the backup. Segments that
    /// [retention](crate::OnFull::DropOldest) drops before they are copied are missing, and counted
    /// in [`Report::segments_dropped`].
    ///
    /// The file is made as `FILE.new`. It is renamed once all of it is on the disk. It must not
    /// exist.
    ///
    /// # Errors
    /// If the index cannot be read, is damaged, or is in mode graceful and open. If the file cannot
    /// be written. No file is left then.
    pub fn make(&mut self, directory: impl AsRef<Path>) -> Result<Report, BackupError> {
        let heap = directory.as_ref().join("heap");
        back_up(&heap, &self.path, How::default(), &mut self.progress)
    }
}

impl Index {
    /// Writes a backup of the index to the file `out`, like [`Backup::make`]. Writes and queries go
    /// on meanwhile.
    pub fn backup(&self, out: impl AsRef<Path>) -> Result<Report, BackupError> {
        let kept = self.written().filter(|engine| !engine.options.keeps_nothing());
        let store = kept.and_then(|engine| engine.store.as_ref()).ok_or(BackupError::Volatile)?;
        back_up(&store.path(), out.as_ref(), How::default(), &mut |_| {})
    }
}

/// Options for how a part is copied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// For tests: the distance from the newest row, in rows, from which segments count as far back.
    pub(crate) far_rows: Option<u64>,
    /// True if rows may have died by operations that are in no log any more.
    pub(crate) has_lost_operations: bool,
}

fn back_up(
    heap: &Path,
    out: &Path,
    how: How,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, BackupError> {
    let image = open(heap)?;
    let mut file = NewFile::create(out)?;
    let regions: Vec<Region> =
        (0..image.root.executors).map(|number| image.part(number)).collect::<Result<_, _>>()?;
    let mut starts = 0..STARTS_MAX;
    while starts.next().is_some() {
        let root = image.read_root()?;
        let copied = copy(&image, &root, &regions, how, &mut file, progress);
        let now = image.read_root()?;
        // Another writer's changes meanwhile may be why the copy failed or seemed to succeed.
        if now.incarnation == root.incarnation {
            let copied = copied?;
            check_writer_gone(&image, &now)?;
            file.finish()?;
            return Ok(copied);
        }
    }
    let why = "the index was opened repeatedly while it was copied";
    Err(BackupError::Restless { path: heap.into(), why })
}

/// Opens the index's file for reading, if its contents can be trusted.
fn open(heap: &Path) -> Result<Image, BackupError> {
    let (waits, wait) = START_WAITS;
    for _ in 0..waits {
        let image = Image::open(heap)?;
        let Image { file, root, options, .. } = &image;
        if options.mode == Mode::Graceful && image.in_use {
            return Err(BackupError::Graceful { path: heap.into() });
        }
        if root.state == CLOSED {
            return Ok(image);
        }
        if !image.in_use {
            trust::check(file, options, root)?;
            return Ok(image);
        }
        if trust::is_relied_on(file, options, root)? {
            return Ok(image);
        }
        // A writer is starting. It will update the root, or refuse the index.
        std::thread::sleep(wait);
    }
    Err(OpenError::Untrusted { path: heap.into() }.into())
}

/// Checks the index again if its writer has gone meanwhile: that writer may have refused the index.
fn check_writer_gone(image: &Image, root: &Root) -> Result<(), BackupError> {
    if image.in_use && !image.file.has_writer().map_err(OpenError::from)? {
        trust::check(&image.file, &image.options, root)?;
    }
    Ok(())
}

/// The index that is copied.
struct Copier<'a> {
    image: &'a Image,
    sources: Vec<Source<'a>>,
    early: Vec<Early>,
    out: &'a Path,
}

pub(crate) fn copy(
    image: &Image,
    root: &Root,
    regions: &[Region],
    how: How,
    file: &mut NewFile,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, BackupError> {
    let out = file.unfinished().to_owned();
    let failed = BackupError::file(&out, "write it");
    let mut copier = Copier::new(image, root, regions, how, &out)?;
    file.cut(0).map_err(failed)?;
    let mut frames = FrameWriter::new(file).map_err(BackupError::file(&out, "write it"))?;
    let words = root::words(root).map(u64::to_le_bytes);
    copier.write(&mut frames, FrameKind::Root, [0; 3], words.as_flattened())?;
    let points = copier.settle(&mut frames)?;
    let mut copied = Report { in_use: image.in_use, ..Report::default() };
    let live: Vec<_> = copier.sources.iter().zip(&points).map(|(s, p)| s.live(p)).collect();
    let total = frames.place().at + live.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let mut shown = 0;
    let mut show = |done: u64| {
        shown = done.min(total);
        progress(Progress { done: shown, total });
    };
    for (number, point) in points.iter().enumerate() {
        let before = copied.segments;
        copier.part(number, point, &mut frames, &mut copied, &mut show)?;
        copied.segments_dropped += live[number].0.saturating_sub(copied.segments - before);
        copied.log_operations += point.operations;
    }
    copier.fields(root, &mut frames)?;
    copier.write(&mut frames, FrameKind::End, [0; 3], &[])?;
    copied.bytes = frames.place().at;
    // The total counts whole blocks, of which less is copied.
    if shown < total {
        progress(Progress { done: total, total });
    }
    Ok(copied)
}

fn corrupt(executor: usize) -> impl Fn(Damage) -> BackupError {
    move |what| OpenError::corrupt(executor)(what).into()
}

impl<'a> Copier<'a> {
    fn new(
        image: &'a Image,
        root: &Root,
        regions: &'a [Region],
        how: How,
        out: &'a Path,
    ) -> Result<Copier<'a>, BackupError> {
        let settings = root.settings().map_err(OpenError::from)?;
        let log = is_logged(root).then_some((root.salt as u32, root.incarnation as u32));
        let (mut sources, mut early) = (Vec::new(), Vec::new());
        for (number, region) in regions.iter().enumerate() {
            let closed = root.state == CLOSED;
            let mut source = Source::new(region, settings, log, closed).map_err(OpenError::from)?;
            if let Some(rows) = how.far_rows {
                source = source.with_far_rows(rows);
            }
            if how.has_lost_operations {
                source = source.with_all_deaths();
            }
            early.push(source.early_deaths().map_err(corrupt(number))?);
            sources.push(source);
        }
        Ok(Copier { image, sources, early, out })
    }

    fn write(
        &self,
        frames: &mut FrameWriter<'_>,
        kind: FrameKind,
        numbers: [u64; 3],
        payload: &[u8],
    ) -> Result<(), BackupError> {
        frames.write(kind, numbers, payload).map_err(BackupError::file(self.out, "write it"))
    }

    /// Copies the list of fields, after the segments. The list only grows, and grows before a
    /// document names a field. So it has every field that a copied segment names.
    fn fields(&self, root: &Root, frames: &mut FrameWriter<'_>) -> Result<(), BackupError> {
        let list = read_beside_writer(&self.image.region, root.fields);
        let mut list = list.map_err(|what| damaged(&self.image.path(), &what))?.bytes;
        let bytes = list.len() as u64;
        list.resize(list.len().next_multiple_of(8), 0);
        self.write(frames, FrameKind::Fields, [bytes, 0, 0], &list)
    }

    /// Fixes the point up to which each executor is copied, and copies the logs up to there.
    fn settle(&mut self, frames: &mut FrameWriter<'_>) -> Result<Vec<Point>, BackupError> {
        let place = frames.place();
        for _ in 0..POINTS_MAX {
            if let Some(points) = self.try_to_settle(frames)? {
                return Ok(points);
            }
            frames.cut(place).map_err(BackupError::file(self.out, "write it"))?;
        }
        let why = "segments are engraved faster than the log is copied";
        Err(BackupError::Restless { path: self.image.path(), why })
    }

    fn try_to_settle(
        &mut self,
        frames: &mut FrameWriter<'_>,
    ) -> Result<Option<Vec<Point>>, BackupError> {
        let (mut points, mut sequence_end) = (Vec::new(), 0);
        for (number, source) in self.sources.iter().enumerate() {
            let point = source.point().map_err(corrupt(number))?;
            let renewed = source.renew_far_deaths(&point, &mut self.early[number]);
            renewed.map_err(corrupt(number))?;
            points.push(point);
        }
        for (number, (source, point)) in self.sources.iter().zip(&mut points).enumerate() {
            let Some(end) = source.read(point).map_err(corrupt(number))? else { return Ok(None) };
            sequence_end = sequence_end.max(end);
        }
        for (number, point) in points.iter_mut().enumerate() {
            self.sources[number]
                .copy_log(number as u64, point, sequence_end, frames)
                .map_err(BackupError::file(self.out, "write it"))?;
        }
        for (number, (source, point)) in self.sources.iter().zip(&points).enumerate() {
            if !source.still_holds(point).map_err(corrupt(number))? {
                return Ok(None);
            }
        }
        Ok(Some(points))
    }

    /// Copies the segments of a part, newest first: retention drops the oldest meanwhile.
    fn part(
        &self,
        number: usize,
        point: &Point,
        frames: &mut FrameWriter<'_>,
        copied: &mut Report,
        step: &mut dyn FnMut(u64),
    ) -> Result<(), BackupError> {
        let (source, early) = (&self.sources[number], &self.early[number]);
        let end = point.newest.map_or(0, |(newest, _)| newest + 1);
        let mut segments = 0;
        for position in (0..end).rev() {
            let segment = source.copy_segment(position, point, early, frames);
            let segment = segment.map_err(|error| match error {
                CopyError::Corrupt(what) => corrupt(number)(what),
                CopyError::Out(reason) => BackupError::file(self.out, "write it")(reason),
            })?;
            let Some(segment) = segment else { break };
            segments += 1;
            copied.rows += segment.rows;
            copied.dead_rows += segment.dead_rows;
            step(frames.place().at);
        }
        copied.segments += segments;
        let entry = point.newest.map(|(_, entry)| Entry::words(&entry).map(u64::to_le_bytes));
        let payload = entry.as_ref().map_or(&[][..], |words| words.as_flattened());
        self.write(frames, FrameKind::Part, [number as u64, segments, point.log_end], payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Index, Search};
    use spirit_index::backup::Sink;
    use spirit_mem::Span;
    use std::io::{self, Write};
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::{Acquire, Release};

    /// Bytes of a backup before its first frame.
    const PREFACE_BYTES: usize = 16;

    const KEYS: u64 = 50;
    const ROUNDS: u64 = 400;

    /// A sink in memory that does something when the first frame comes.
    struct Interrupted<F> {
        bytes: Vec<u8>,
        act: Option<F>,
    }

    impl<F: FnOnce()> Write for Interrupted<F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.extend_from_slice(bytes);
            if self.bytes.len() > PREFACE_BYTES
                && let Some(act) = self.act.take()
            {
                act();
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<F: FnOnce()> Sink for Interrupted<F> {
        fn cut(&mut self, bytes: u64) -> io::Result<()> {
            self.bytes.cut(bytes)
        }
    }

    /// Its short-term block is another segment's then.
    #[test]
    fn a_segment_that_is_merged_while_it_is_copied_is_copied_again() {
        let base = std::env::temp_dir().join(format!("spirit-merged-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let options = Index::builder().directory(base.join("index")).merge_after(16);
        let options = options.dram_bytes(16 << 20).nvm_bytes(16 << 20).segment_bytes(64 << 10);
        let index = options.open().unwrap();
        for number in 0..500 {
            index.add(&format!("all t{number}")).unwrap();
        }
        index.flush().unwrap();
        let memory = index.memories().next().unwrap();
        assert_eq!((memory.merged(), memory.window().oldest), (0, 0));

        let image = open(&base.join("index/heap")).unwrap();
        let (root, region) = (image.read_root().unwrap(), image.part(0).unwrap());
        let log = (root.salt as u32, root.incarnation as u32);
        let source = Source::new(&region, root.settings().unwrap(), Some(log), false).unwrap();
        let early = source.early_deaths().unwrap();
        let mut point = source.point().unwrap();
        source.read(&mut point).unwrap().unwrap();
        let copied = |act: &dyn Fn()| {
            let mut sink = Interrupted { bytes: Vec::new(), act: Some(act) };
            let mut frames = FrameWriter::new(&mut sink).unwrap();
            let copied = source.copy_segment(0, &point, &early, &mut frames).unwrap();
            assert!(copied.is_some());
            sink.bytes
        };
        let during = copied(&|| {
            index.prepare_close().unwrap();
            assert!(memory.merged() > 0);
            let (entry, _) = memory.nvm().unwrap().sections(memory.region(), 0).unwrap();
            let block = Span::<AtomicU64>::new(entry.short_start, entry.short_bytes / 8);
            memory.region().view(block).iter().for_each(|word| word.store(u64::MAX, Release));
        });
        assert!(during == copied(&|| ()), "it has the terms of another segment");
        drop(index);
        std::fs::remove_dir_all(&base).unwrap();
    }

    /// 2^32 rows are too many for a test, so all segments but the newest are taken for ones that are so far back that their
    /// stamps do not say which row they name.
    #[test]
    fn deaths_that_are_too_far_back_to_name_their_row_are_right() {
        let base = std::env::temp_dir().join(format!("spirit-far-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let options = |directory: &str| {
            Index::builder()
                .directory(base.join(directory))
                .dram_bytes(16 << 20)
                .nvm_bytes(16 << 20)
                .log_bytes(64 << 10)
                .segment_bytes(64 << 10)
                .document_bytes_max(4 << 10)
        };
        let index = options("index").open().unwrap();
        let put = AtomicU64::new(0);
        let mut taken = Vec::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..KEYS * ROUNDS {
                    let text = format!("all round{} v{number}", number / KEYS);
                    index.put(&format!("k{}", number % KEYS), &text).unwrap();
                    put.store(number + 1, Release);
                }
            });
            while !writer.is_finished() && taken.len() < 30 {
                let (out, before) = (base.join(format!("{}", taken.len())), put.load(Acquire));
                let heap = base.join("index/heap");
                back_up(&heap, &out, How { far_rows: Some(0), ..How::default() }, &mut |_| {})
                    .unwrap();
                taken.push((before, out));
            }
        });
        assert!(taken.len() > 2);
        for (number, (before, out)) in taken.iter().enumerate() {
            let directory = format!("restored{number}");
            Backup::at(out).restore(base.join(&directory)).unwrap();
            let restored = options(&directory).open().unwrap();
            let mut reader = restored.reader().unwrap();
            let keys = reader.search("all", Search::newest(10_000)).unwrap().keys().unwrap();
            let mut each = keys.clone();
            each.sort_unstable();
            each.dedup();
            assert_eq!(each.len(), keys.len(), "a key has two documents");
            assert_eq!(keys.len() as u64, KEYS.min((*before).max(keys.len() as u64)));
            // The newest document says how many there were; each key has its last one of them.
            let Some(newest) = keys.first() else { continue };
            let key: u64 = newest[1..].parse().unwrap();
            let round = (0..ROUNDS)
                .rev()
                .find(|round| {
                    let word = format!("v{}", round * KEYS + key);
                    reader.count(&word).unwrap() == 1
                })
                .unwrap();
            let end = round * KEYS + key + 1;
            assert!(end >= *before, "{end} of {before}");
            for number in end.saturating_sub(KEYS)..end {
                assert_eq!(reader.count(&format!("v{number}")).unwrap(), 1, "{number}, {end}");
            }
        }
        drop(index);
        std::fs::remove_dir_all(&base).unwrap();
    }
}
