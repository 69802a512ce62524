//! Signals that end the process: the unfinished output is removed first.

use std::sync::mpsc;
use std::thread;

use wgpu_gather_cli::arrays::npy_write::end_writing;

/// The number of the signal that Ctrl-C sends.
const SIGINT: i32 = 2;

/// The exit status after any signal: 128 plus the number of SIGINT, as in a shell.
const STATUS: i32 = 128 + SIGINT;

/// Heeds the signals that end a process, except those that its parent made it ignore, as `nohup` does with SIGHUP. A system
/// without signals, or without memory for a thread, is no reason to stop.
pub fn heed() {
    let (sender, is_heeded) = mpsc::channel();
    let heeds = thread::Builder::new().spawn(move || wait(&sender));
    if heeds.is_ok() {
        // Returns an error if the thread waits for no signal.
        let _ = is_heeded.recv();
    }
    // A write beyond the user's file size limit then fails, instead of ending the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(unix)]
fn wait(is_heeded: &mpsc::Sender<()>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let signals = [SIGHUP, SIGINT, SIGTERM].into_iter();
    if let Ok(mut signals) = Signals::new(signals.filter(|&signal| !is_ignored(signal))) {
        let _ = is_heeded.send(());
        if signals.forever().next().is_some() {
            // Skips the libraries' cleanup: threads of drivers do not survive it.
            end_writing(|is_complete| {
                signal_hook::low_level::exit(if is_complete { 0 } else { STATUS })
            });
        }
    }
}

#[cfg(not(unix))]
fn wait(_: &mpsc::Sender<()>) {
    let _ = ctrlc::set_handler(|| {
        end_writing(|is_complete| std::process::exit(if is_complete { 0 } else { STATUS }));
    });
}

/// Returns true if this process ignores the signal.
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "the system tells what a process does at a signal"
)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the system only writes the present one, a plain structure, for which there is room.
    let told = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bytes were zeros, which are a valid structure, before the system wrote it.
    told == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
