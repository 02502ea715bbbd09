//! Verdicts on signatures, with the runtime's curve operations by the library that it uses.
//! tests/programs/signatures.test.ts compares those of the built program with other verifiers.

use curve25519_dalek::{constants::EIGHT_TORSION, edwards::EdwardsPoint, scalar::Scalar};
use pinocchio::Address;
use proptest::prelude::*;

use super::{Signer, hash_to_scalar, join};
use crate::signatures::ed25519::is_signed;

/// Section 7.1: secret key, public key, message and signature of each test.
const RFC_8032: &str = include_str!("rfc8032.txt");

fn read_hex(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('-').as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn the_keys_of_rfc_8032_sign_as_it_says_and_their_signatures_of_32_bytes_are_accepted() {
    assert_eq!(RFC_8032.lines().count(), 5);
    for line in RFC_8032.lines() {
        let [secret, public, message, signature] =
            line.split(' ').map(read_hex).collect::<Vec<_>>().try_into().unwrap();
        let signer = Signer::new(secret.as_slice().try_into().unwrap());
        assert_eq!(signer.address.as_array().as_slice(), public);
        assert_eq!(signer.sign(&message).as_slice(), signature);
        for message in [[0; 32], [0xFF; 32], *b"a message of exactly 32 bytes ok"] {
            assert!(is_signed(&message, &signer.address, &signer.sign(&message)));
        }
    }
}

/// S, and S plus each multiple of L that fits 256 bits.
#[test]
fn of_all_forms_of_a_signature_only_one_is_accepted() {
    let signer = Signer::new(&[7; 32]);
    let signature = signer.sign(&[1; 32]);
    let l_less_one = (-Scalar::ONE).to_bytes();
    let mut forms = 0;
    let mut form = signature;
    loop {
        assert_eq!(is_signed(&[1; 32], &signer.address, &form), forms == 0, "S + {forms} L");
        let mut carry = 1_u16;
        for at in 0..32 {
            carry += u16::from(form[32 + at]) + u16::from(l_less_one[at]);
            form[32 + at] = carry as u8;
            carry >>= 8;
        }
        forms += 1;
        if carry > 0 {
            break;
        }
    }
    assert!(forms >= 15);
}

/// The points whose order divides 8 in every encoding: also with y + p, and the sign of a zero.
fn of_small_order() -> Vec<[u8; 32]> {
    let mut encodings: Vec<[u8; 32]> =
        EIGHT_TORSION.iter().map(|point| point.compress().0).collect();
    for low in [0xED, 0xEE] {
        let mut above_p = [0xFF; 32];
        (above_p[0], above_p[31]) = (low, 0x7F);
        encodings.push(above_p);
    }
    for at in 0..encodings.len() {
        let mut other_sign = encodings[at];
        other_sign[31] ^= 0x80;
        encodings.push(other_sign);
    }
    encodings.sort_unstable();
    encodings.dedup();
    encodings
}

#[test]
fn keys_and_nonces_of_small_order_are_refused_though_the_equation_holds() {
    assert_eq!(of_small_order().len(), 14);
    let nonce = Scalar::from(9_u8);
    let r = EdwardsPoint::mul_base(&nonce).compress().0;
    let secret = Scalar::from(5_u8);
    let public = EdwardsPoint::mul_base(&secret).compress().0;
    for encoding in of_small_order() {
        // Of one in eight messages the challenge is a multiple of 8: then the key vanishes.
        for message in (0..64).map(|byte| [byte; 32]) {
            let by_none = join(&r, nonce.as_bytes());
            assert!(!is_signed(&message, &Address::new_from_array(encoding), &by_none));
            let challenge = hash_to_scalar(&[&encoding, &public, &message]);
            let without_nonce = join(&encoding, (challenge * secret).as_bytes());
            assert!(!is_signed(&message, &Address::new_from_array(public), &without_nonce));
        }
    }
}

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
