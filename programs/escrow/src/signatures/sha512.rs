//! SHA-512: by the runtime where the build names its syscall, else in the program.
//!
//! The syscall is new. A ledger without it refuses a program that names it, so the published builds
//! bring the hash along.

#[cfg(any(test, not(feature = "sha512-syscall")))]
pub fn sha512(message: &[u8]) -> [u8; 64] {
    use sha2::{Digest, Sha512};

    Sha512::digest(message).into()
}

#[cfg(all(not(test), feature = "sha512-syscall"))]
pub fn sha512(message: &[u8]) -> [u8; 64] {
    let mut hash = [0; 64];
    let parts = [message];
    // SAFETY: one slice is given, and 64 bytes are written.
    unsafe {
        pinocchio::syscalls::sol_sha512(parts.as_ptr().cast(), 1, hash.as_mut_ptr());
    }
    hash
}
