//! Standard output, keys that end a program, and requests to stop.

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{consts, flag};

pub use system::Stop;

/// Returns whether the reader of standard output is gone, without waiting for a write to fail.
/// Always returns false on Windows.
pub fn is_output_closed() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let out = std::io::stdout();
        let mut fds = [PollFd::new(&out, PollFlags::empty())];
        let polled = poll(&mut fds, Some(&Timespec::default()));
        polled.is_ok_and(|_| fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
    }
    #[cfg(windows)]
    {
        false
    }
}

/// Ignores the keys that end a program from now on, because a child controls the terminal.
pub fn leave_keys_to_child() {
    #[cfg(unix)]
    let signals = [consts::SIGINT, consts::SIGQUIT];
    #[cfg(windows)]
    let signals = [consts::SIGINT];
    for signal in signals {
        let _ = flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

#[cfg(unix)]
mod system {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// Waits for a request to stop this process: SIGTERM or SIGINT or, on Windows, Ctrl-C, Ctrl-Break, closing the
    /// console or shutting down the machine.
    #[derive(Debug)]
    pub struct Stop {
        terminate: Signal,
        interrupt: Signal,
    }

    impl Stop {
        /// Starts to listen, which requires a runtime. From now on, such a request does not end the process.
        ///
        /// # Errors
        /// Returns an error if the system refuses.
        pub fn listen() -> io::Result<Self> {
            Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
        }

        /// Waits for the request.
        pub async fn requested(&mut self) {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
        }
    }
}

#[cfg(windows)]
#[expect(missing_docs, reason = "the one for Unix is documented")]
mod system {
    use std::io;

    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
    };

    #[derive(Debug)]
    pub struct Stop {
        c: CtrlC,
        pause: CtrlBreak,
        close: CtrlClose,
        shutdown: CtrlShutdown,
    }

    impl Stop {
        pub fn listen() -> io::Result<Self> {
            Ok(Self { c: ctrl_c()?, pause: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
        }

        pub async fn requested(&mut self) {
            tokio::select! {
                _ = self.c.recv() => {}
                _ = self.pause.recv() => {}
                _ = self.close.recv() => {}
                _ = self.shutdown.recv() => {}
            }
        }
    }
}
