//! SHA-512: by the runtime where the build names its syscall, else in the program.
//!
//! The syscall is new. A ledger without it refuses a program that names it, so the published builds
//! bring the hash along.

/// The sha512 of all parts in their order.
#[cfg(any(test, not(feature = "sha512-syscall")))]
pub fn sha512(parts: &[&[u8]]) -> [u8; 64] {
    use sha2::Digest;

    let mut hash = sha2::Sha512::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The sha512 of all parts in their order.
#[cfg(all(not(test), feature = "sha512-syscall"))]
pub fn sha512(parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = [0; 64];
    // SAFETY: as many slices are given as the length says, and 64 bytes are written.
    unsafe {
        pinocchio::syscalls::sol_sha512(
            parts.as_ptr().cast(),
            parts.len() as u64,
            hash.as_mut_ptr(),
        );
    }
    hash
}
