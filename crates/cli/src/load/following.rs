//! Files that are read as they grow, several at a time, like `tail -F`.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Loader;
use super::open_source::{Again, OpenSource, Reached};
use super::resuming::note_other_lines;
use crate::failure::Failure;
use crate::input::{Followed, Records};
use crate::note::note;
use crate::resume::{Current, FileId, Place};

/// Time between two looks at files that do not grow. So a line is found within 50 ms.
const TICK: Duration = Duration::from_millis(20);

/// A path that is followed, with the files that it led to.
struct Trail {
    path: PathBuf,
    /// The file that it leads to, as far as that is known, is the last one. The others were renamed or
    /// removed a moment ago.
    files: Vec<OpenFile>,
    /// A file was read here.
    has_begun: bool,
    /// It was said that nothing can be opened here.
    is_missed: bool,
}

struct OpenFile {
    id: FileId,
    source: OpenSource,
    current: Current,
    /// Where else the file may have been read to.
    places: VecDeque<Place>,
    /// The index knows a place in this very file.
    is_known: bool,
}

impl Loader<'_> {
    /// Adds the documents of `files` and what is written to them, until the process is asked to end.
    /// Keeps how far they were read, and begins there, if `resumes`.
    pub(crate) fn follow(&mut self, files: &[PathBuf], resumes: bool) -> Result<(), Failure> {
        files.iter().try_for_each(|path| check_regular(path))?;
        if resumes {
            self.begin_resuming(files)?;
        }
        let mut trails: Vec<Trail> = files.iter().map(|path| Trail::new(path)).collect();
        loop {
            let mut is_quiet = true;
            for trail in &mut trails {
                self.look(trail)?;
                is_quiet &= self.read_on(trail)?;
            }
            // Whatever was read is in: each file was left at a pause or with a whole chunk.
            self.interrupt.check()?;
            if is_quiet {
                thread::sleep(TICK);
            }
        }
    }

    /// Opens the file that the path leads to, unless it is open.
    fn look(&mut self, trail: &mut Trail) -> Result<(), Failure> {
        let path = &trail.path;
        let found = match std::fs::metadata(path) {
            Ok(metadata) if trail.is_open(&metadata) => return Ok(()),
            Ok(metadata) if metadata.is_file() => File::open(path),
            // It comes again: logs are renamed before there is a new one.
            _ => return Ok(()),
        };
        let file = match found {
            Ok(file) => file,
            Err(error) => {
                if !std::mem::replace(&mut trail.is_missed, true) {
                    note(format_args!("{}: {error}; it is tried again", path.display()));
                }
                return Ok(());
            }
        };
        let metadata = file.metadata().map_err(|error| Failure::file(path, &error))?;
        if trail.is_open(&metadata) {
            return Ok(());
        }
        if trail.has_begun {
            note(format_args!(
                "{} is another file now, or was emptied; it is read from its beginning",
                path.display()
            ));
        }
        let id = FileId::of(&metadata);
        // What was there before is known, and this is something else.
        let track = self.track.as_ref().filter(|_| !trail.has_begun);
        let mut places: VecDeque<Place> =
            track.map_or_else(Vec::new, |track| track.candidates(id)).into();
        let is_known = places.front().is_some_and(|place| place.file == id);
        let from = places.pop_front().unwrap_or(Place { file: id, ..Place::default() });
        let source = self.open_followed(path, file, from);
        let current = self.begun(id, from);
        trail.files.push(OpenFile { id, source, current, places, is_known });
        (trail.has_begun, trail.is_missed) = (true, false);
        Ok(())
    }

    fn open_followed(&self, path: &Path, file: File, from: Place) -> OpenSource {
        let followed = |file| Followed::new(file, path, &self.interrupt);
        let again = file.try_clone().and_then(|one| Ok((one.try_clone()?, one))).ok();
        let again = again.map(|(one, other)| Again::Growing(one, followed(other)));
        let records = Records::follow(followed(file), path, &self.reading.cutting);
        OpenSource::new(path, records, self.manner(), from).or_jump(again)
    }

    /// Begins a file at a place. Returns where it is.
    fn begun(&mut self, id: FileId, from: Place) -> Current {
        self.begin(id, from);
        self.track.as_ref().map_or_else(Current::default, |track| track.current())
    }

    /// Adds what is there of each file of a path. True if nothing was.
    fn read_on(&mut self, trail: &mut Trail) -> Result<bool, Failure> {
        let mut is_quiet = true;
        let mut at = 0;
        while let Some(file) = trail.files.get_mut(at) {
            if let Some(track) = &mut self.track {
                track.go_on(file.current);
            }
            let before = file.source.last;
            let reached = self.read(&mut file.source)?;
            is_quiet &= reached == Reached::Pause && file.source.last == before;
            if let Some(track) = &self.track {
                file.current = track.current();
            }
            match reached {
                Reached::Full | Reached::Pause => at += 1,
                Reached::Other => {
                    if !self.reopened(file)? {
                        trail.files.remove(at);
                    }
                }
                Reached::End => drop(trail.files.remove(at)),
            }
        }
        Ok(is_quiet)
    }

    /// Begins a file again that was not what it was taken for. False if it is gone.
    fn reopened(&mut self, file: &mut OpenFile) -> Result<bool, Failure> {
        let path = file.source.path.clone();
        let failed = |error| Failure::file(&path, &error);
        let Ok(again) = File::open(&path) else { return Ok(false) };
        if FileId::of(&again.metadata().map_err(failed)?) != file.id {
            return Ok(false);
        }
        let from = match file.places.pop_front() {
            Some(place) => place,
            None => {
                if std::mem::take(&mut file.is_known) {
                    note_other_lines(&path);
                }
                Place { file: file.id, ..Place::default() }
            }
        };
        file.source = self.open_followed(&path, again, from);
        file.current = self.begun(file.id, from);
        Ok(true)
    }
}

impl Trail {
    fn new(path: &Path) -> Trail {
        Trail { path: path.into(), files: Vec::new(), has_begun: false, is_missed: false }
    }

    fn is_open(&self, metadata: &Metadata) -> bool {
        let id = FileId::of(metadata);
        self.files.iter().any(|file| file.id == id)
    }
}

/// Fails if `path` is no file that can grow.
fn check_regular(path: &Path) -> Result<(), Failure> {
    let is_regular = path.as_os_str() != "-" && {
        let metadata = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?;
        metadata.is_file()
    };
    if is_regular {
        return Ok(());
    }
    Err(Failure::usage(format_args!(
        "--follow: {} is no file; a pipe is read as it comes without --follow",
        path.display()
    )))
}
