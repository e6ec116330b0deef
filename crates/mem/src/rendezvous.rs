//! The socket in the index's directory through which the writer hands descriptors of its memory to
//! processes that read.
//!
//! The writer sends one message to each process that connects. A query sends nothing. The
//! connection stays open, and the kernel closes it when either side ends, in every namespace. A
//! socket without a listener refuses connections. So a socket that a killed writer left behind is
//! not mistaken for one in use.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg, sockopt,
};

/// The socket's name in the directory.
const NAME: &str = "live";
/// The number of words in a message.
pub const MESSAGE_WORDS: usize = 16;
/// The number of descriptors with a message.
pub const DESCRIPTORS: usize = 2;

/// The message of the writer to a process that connects.
pub type Message = [u64; MESSAGE_WORDS];

/// The writer's end of the socket.
pub struct Rendezvous {
    listener: UnixListener,
    path: PathBuf,
}

impl Rendezvous {
    /// Makes the socket in `directory`, and replaces one that an earlier writer left there. The
    /// caller is the only writer while this lives. Users that may read a file of `mode` may
    /// connect.
    pub fn bind(directory: &Path, mode: u32) -> io::Result<Rendezvous> {
        let path = directory.join(NAME);
        match std::fs::remove_file(&path) {
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => return Err(reason),
            _ => {}
        }
        let listener = by_short_name(directory, |path| UnixListener::bind(path))?;
        // A failure from here on removes it.
        let made = Rendezvous { listener, path };
        made.listener.set_nonblocking(true)?;
        let readers = mode & 0o444;
        std::fs::set_permissions(&made.path, PermissionsExt::from_mode(readers | readers >> 1))?;
        Ok(made)
    }

    /// Waits until a process connects, one of `guests` ends, or `wake` can be read.
    pub fn wait(&self, guests: &[UnixStream], wake: BorrowedFd<'_>) -> io::Result<()> {
        let all = [self.listener.as_fd(), wake];
        let all = all.into_iter().chain(guests.iter().map(AsFd::as_fd));
        let mut all: Vec<_> = all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut all, None) {
            Err(reason) if reason != rustix::io::Errno::INTR => Err(reason.into()),
            _ => Ok(()),
        }
    }

    /// Accepts the next process that waits, if there is one.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((guest, _)) => {
                guest.set_nonblocking(true)?;
                Ok(Some(guest))
            }
            Err(reason) if reason.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(reason) => Err(reason),
        }
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        // If this fails, the socket stays and refuses connections.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// True if the other side of a connection has ended.
pub fn has_ended(guest: &UnixStream) -> bool {
    let mut byte = [0];
    match rustix::net::recv(guest, &mut byte, RecvFlags::DONTWAIT | RecvFlags::PEEK) {
        Ok((_, bytes)) => bytes == 0,
        Err(reason) => reason != rustix::io::Errno::AGAIN && reason != rustix::io::Errno::INTR,
    }
}

/// Returns the id of the process at the other side of a connection, in our namespace.
pub fn process_of(guest: &UnixStream) -> Option<i32> {
    let credentials = sockopt::socket_peercred(guest).ok()?;
    Some(credentials.pid.as_raw_nonzero().get())
}

/// Sends the message and its descriptors.
pub fn tell(
    guest: &UnixStream,
    message: &Message,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = message.map(u64::to_le_bytes);
    let bytes = bytes.as_flattened();
    // A message is far smaller than a socket's buffer: it is sent at once and whole.
    match sendmsg(guest, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)? {
        sent if sent == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Connects to the writer of the index in `directory`; none if there is no writer.
pub fn call(directory: &Path) -> io::Result<Option<UnixStream>> {
    match by_short_name(directory, |path| UnixStream::connect(path)) {
        Ok(stream) => Ok(Some(stream)),
        Err(reason)
            if [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused]
                .contains(&reason.kind()) =>
        {
            Ok(None)
        }
        Err(reason) => Err(reason),
    }
}

/// Waits for the writer's message; none if the writer ends before it sends one.
pub fn listen(writer: &UnixStream) -> io::Result<Option<(Message, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; MESSAGE_WORDS * 8];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(writer, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)
    });
    let received = match received {
        Err(rustix::io::Errno::CONNRESET) => return Ok(None),
        received => received?.bytes,
    };
    if received < bytes.len() {
        return Ok(None);
    }
    let descriptors = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors = descriptors.flatten().collect();
    let (words, _) = bytes.as_chunks::<8>();
    Ok(Some((std::array::from_fn(|i| u64::from_le_bytes(words[i])), descriptors)))
}

/// Calls `act` with the path of the socket in `directory`. A socket's path has at most 107 bytes,
/// so it begins with a descriptor of the directory.
fn by_short_name<T>(directory: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let opened = std::fs::File::open(directory)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    // Without /proc, a short path works.
    if short.exists() { act(&short.join(NAME)) } else { act(&directory.join(NAME)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::TestDirectory;

    #[test]
    fn descriptors_are_handed_over_and_an_end_is_noticed() {
        let directory = TestDirectory::new("rendezvous");
        let deep = directory.path().join("x".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        assert!(call(&deep).unwrap().is_none(), "nobody has been there");
        let host = Rendezvous::bind(&deep, 0o640).unwrap();
        let (_wake, woken) = UnixStream::pair().unwrap();
        let guest = call(&deep).unwrap().unwrap();
        host.wait(&[], woken.as_fd()).unwrap();
        let accepted = host.accept().unwrap().unwrap();
        assert!(host.accept().unwrap().is_none());
        let file = std::fs::File::open(&deep).unwrap();
        let message: Message = std::array::from_fn(|i| i as u64);
        tell(&accepted, &message, &[file.as_fd(), file.as_fd()]).unwrap();
        let (heard, descriptors) = listen(&guest).unwrap().unwrap();
        assert_eq!((heard, descriptors.len()), (message, 2));
        assert_eq!(process_of(&accepted), Some(std::process::id() as i32));
        assert!(!has_ended(&accepted));
        drop(guest);
        host.wait(std::slice::from_ref(&accepted), woken.as_fd()).unwrap();
        assert!(has_ended(&accepted));
    }

    #[test]
    fn what_a_killed_writer_leaves_is_no_writer() {
        let directory = TestDirectory::new("left");
        let host = Rendezvous::bind(directory.path(), 0o600).unwrap();
        let guest = call(directory.path()).unwrap().unwrap();
        let path = directory.path().join(NAME);
        let kept = directory.path().join("kept");
        std::fs::hard_link(&path, &kept).unwrap();
        drop(host);
        assert!(!path.exists());
        assert!(listen(&guest).unwrap().is_none(), "it ended without a word");
        std::fs::rename(&kept, &path).unwrap();
        assert!(call(directory.path()).unwrap().is_none());
        Rendezvous::bind(directory.path(), 0o600).unwrap();
    }
}
