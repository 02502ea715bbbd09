//! SHA-512 against an independent one.

use proptest::{prelude::*, test_runner::TestRunner};
use sha2_const_stable::Sha512;

use crate::signatures::sha512;

#[test]
fn over_10_000_messages_of_every_length_to_512_bytes_have_their_hash() {
    let mut runner = TestRunner::default();
    for _ in 0..20 {
        for length in 0..=512 {
            let mut message = vec![0; length];
            runner.rng().fill_bytes(&mut message);
            let expected = Sha512::new().update(&message).finalize();
            assert_eq!(sha512(&message), expected, "{message:x?}");
        }
    }
}
