//! The cryptography, held against plain references.

mod ed25519;
mod scalar;
mod sha512;

use curve25519_dalek::{
    edwards::EdwardsPoint,
    scalar::{Scalar, clamp_integer},
};
use pinocchio::Address;
use sha2_const_stable::Sha512;

/// A key that signs as RFC 8032 says.
pub struct Signer {
    scalar: Scalar,
    prefix: [u8; 32],
    pub address: Address,
}

impl Signer {
    pub fn new(secret: &[u8; 32]) -> Self {
        let hash = Sha512::new().update(secret).finalize();
        let (halves, _) = hash.as_chunks();
        let scalar = Scalar::from_bytes_mod_order(clamp_integer(halves[0]));
        let address = Address::new_from_array(EdwardsPoint::mul_base(&scalar).compress().0);
        Self { scalar, prefix: halves[1], address }
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        let nonce = hash_to_scalar(&[&self.prefix, message]);
        let r = EdwardsPoint::mul_base(&nonce).compress().0;
        let challenge = hash_to_scalar(&[&r, self.address.as_array(), message]);
        join(&r, (nonce + challenge * self.scalar).as_bytes())
    }
}

fn hash_to_scalar(parts: &[&[u8]]) -> Scalar {
    let hash = parts.iter().fold(Sha512::new(), |sum, part| sum.update(part)).finalize();
    Scalar::from_bytes_mod_order_wide(&hash)
}

/// A signature of these halves.
fn join(r: &[u8; 32], s: &[u8; 32]) -> [u8; 64] {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(r);
    signature[32..].copy_from_slice(s);
    signature
}
