//! Verdicts on signatures, with the runtime's curve operations by the library that it uses.
//! tests/programs/signatures.test.ts compares those of the built program with other verifiers. It has
//! the keys of RFC 8032, points of small order and the other forms of a signature.

use pinocchio::Address;
use proptest::prelude::*;

use super::{Signer, join};
use crate::signatures::ed25519::is_signed;

proptest! {
    #[test]
    fn a_signature_is_accepted_and_with_any_other_bit_refused(
        secret: [u8; 32],
        message: [u8; 32],
        bit in 0..128 * 8_usize,
    ) {
        let signer = Signer::new(&secret);
        let mut signed = [[0; 32]; 4];
        signed.as_flattened_mut()[..64].copy_from_slice(&signer.sign(&message));
        signed[2] = *signer.address.as_array();
        signed[3] = message;
        for expected in [true, false] {
            let [r, s, key, message] = &signed;
            let key = Address::new_from_array(*key);
            prop_assert_eq!(is_signed(message, &key, &join(r, s)), expected);
            signed.as_flattened_mut()[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn no_random_bytes_are_a_signature(message: [u8; 32], key: [u8; 32], r: [u8; 32], s: [u8; 32]) {
        prop_assert!(!is_signed(&message, &Address::new_from_array(key), &join(&r, &s)));
    }
}
