//! Signals that end the program, and what is done before it ends.

use std::path::Path;

/// Why the program is to end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// Ctrl-C.
    Interrupted,
    /// Another program or the system asks for it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere all requests look like Ctrl-C"))]
    Terminated,
    /// The terminal is gone.
    #[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere all requests look like Ctrl-C"))]
    HungUp,
    /// A mapped file was truncated, and the memory that was to be read is gone.
    #[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere a mapped file cannot be truncated"))]
    Truncated(&'static Path),
}

impl Ending {
    /// The exit code: 128 and the number of the signal, as shells have it, or that of a failure.
    pub fn exit_code(self) -> i32 {
        match self {
            Ending::Interrupted => 130,
            Ending::Terminated => 143,
            Ending::HungUp => 129,
            Ending::Truncated(_) => i32::from(crate::FAILURE),
        }
    }
}

#[cfg(not(unix))]
pub use self::elsewhere::watch;
#[cfg(unix)]
pub use self::unix::watch;

#[cfg(unix)]
mod unix {
    use std::io::{self, Read};
    use std::os::fd::IntoRawFd;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
    use std::{mem, ptr, thread};

    use libc::{SIGBUS, SIGHUP, SIGINT, SIGTERM, c_int, c_void, siginfo_t};
    use sememe::files::{mapped_file_at, track_mapped_files};

    use super::Ending;

    /// Where handlers write the number of their signal; a thread reads it at the other end.
    static PIPE: AtomicI32 = AtomicI32::new(-1);
    /// The address that could not be read.
    static FAULT: AtomicUsize = AtomicUsize::new(0);
    /// What was done about faults before: Rust reports overflows of the stack.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Calls `end` on a thread of its own for every request to end the program. A signal that is ignored, as under nohup
    /// or in the background of a script, stays ignored; the others are heard.
    pub fn watch(end: impl Fn(Ending) + Send + 'static) -> io::Result<()> {
        let (mut reader, writer) = io::pipe()?;
        PIPE.store(writer.into_raw_fd(), Ordering::Release);
        track_mapped_files();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut signal = [0];
            while reader.read_exact(&mut signal).is_ok() {
                let ending = match c_int::from(signal[0]) {
                    SIGINT => Some(Ending::Interrupted),
                    SIGTERM => Some(Ending::Terminated),
                    SIGHUP => Some(Ending::HungUp),
                    _ => mapped_file_at(FAULT.load(Ordering::Acquire)).map(Ending::Truncated),
                };
                ending.into_iter().for_each(&end);
            }
        })?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if action_of(signal)?.sa_sigaction == libc::SIG_DFL {
                set(signal, hear as extern "C" fn(c_int) as usize, libc::SA_RESTART)?;
            }
        }
        let _ = BEFORE.set(action_of(SIGBUS)?);
        let handler = report_fault as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        set(SIGBUS, handler, libc::SA_SIGINFO | libc::SA_ONSTACK)
    }

    fn action_of(signal: c_int) -> io::Result<libc::sigaction> {
        // SAFETY: zero is a valid value of every field.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: it only asks, and writes where it may.
        match unsafe { libc::sigaction(signal, ptr::null(), &mut action) } {
            0 => Ok(action),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn set(signal: c_int, handler: usize, flags: c_int) -> io::Result<()> {
        // SAFETY: zero is a valid value of every field: no signal is blocked.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        // SAFETY: the handlers below do nothing that a handler must not do.
        match unsafe { libc::sigaction(signal, &action, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn tell(signal: c_int) {
        let byte = [signal as u8];
        // SAFETY: the pipe is never closed, and writing is allowed in a handler.
        unsafe { libc::write(PIPE.load(Ordering::Acquire), byte.as_ptr().cast(), 1) };
    }

    extern "C" fn hear(signal: c_int) {
        tell(signal);
    }

    /// Memory of a mapped file is gone. This thread cannot go on; the one at the other end of the pipe ends the program.
    extern "C" fn report_fault(signal: c_int, about: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system passes what it knows about a fault.
        let address = unsafe { (*about).si_addr() } as usize;
        if mapped_file_at(address).is_none() {
            // Something else: it happens again, and is handled as before.
            let before = BEFORE.get().map_or(ptr::null(), ptr::from_ref);
            // SAFETY: a handler may do this.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            return;
        }
        FAULT.store(address, Ordering::Release);
        tell(signal);
        loop {
            // SAFETY: a handler may wait.
            unsafe { libc::pause() };
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    use super::Ending;

    /// Calls `end` on a thread of its own for every request to end the program.
    pub fn watch(end: impl Fn(Ending) + Send + 'static) -> io::Result<()> {
        ctrlc::try_set_handler(move || end(Ending::Interrupted)).map_err(io::Error::other)
    }
}
