//! Anchor's discriminators: the first 8 bytes of the sha256 of `<namespace>:<name>`.

use sha2_const_stable::Sha256;

/// Computed by the compiler, so no number is ever written by hand.
pub const fn discriminator(namespace: &str, name: &str) -> u64 {
    let hash =
        Sha256::new().update(namespace.as_bytes()).update(b":").update(name.as_bytes()).finalize();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
