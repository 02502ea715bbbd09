//! What is read from the instructions sysvar, which the runtime writes.

use pinocchio::{Address, sysvars::instructions::INSTRUCTIONS_ID};
use proptest::prelude::*;

use crate::{
    ID,
    checks::{
        ed25519::Verification,
        proof::{Attempt, Proof},
    },
    error::EscrowError,
    state::job::Output,
    tests::{accounts::Stored, address, refusal},
};

const ED25519_PROGRAM: Address =
    Address::from_str_const("Ed25519SigVerify111111111111111111111111111");
/// As the client writes it for one signature of a proof: offsets 48, 16 and 112, 149 bytes.
const HEADER: [u8; 16] = [1, 0, 48, 0, 0xFF, 0xFF, 16, 0, 0xFF, 0xFF, 112, 0, 149, 0, 0xFF, 0xFF];

/// The sysvar of a transaction of these instructions, without accounts.
fn sysvar(instructions: &[(Address, Vec<u8>)], current: u16) -> Stored {
    let mut data = (instructions.len() as u16).to_le_bytes().to_vec();
    let mut offset = 2 + 2 * instructions.len();
    for (_, instruction) in instructions {
        data.extend((offset as u16).to_le_bytes());
        offset += 2 + 32 + 2 + instruction.len();
    }
    for (program, instruction) in instructions {
        data.extend([0, 0]);
        data.extend(program.as_array());
        data.extend((instruction.len() as u16).to_le_bytes());
        data.extend(instruction);
    }
    data.extend(current.to_le_bytes());
    Stored::of(address(2), INSTRUCTIONS_ID, &data)
}

fn verification(key: &Address, output_hash: [u8; 32]) -> Vec<u8> {
    let mut data = HEADER.to_vec();
    data.extend(key.as_array());
    data.extend([0; 64]);
    data.extend(b"svc-proof-v1");
    for about in [ID, address(5), address(6)] {
        data.extend(about.as_array());
    }
    data.push(1);
    data.extend(output_hash);
    data.extend(20_u32.to_le_bytes());
    data.extend(300_u32.to_le_bytes());
    data
}

/// What the program says to these bytes as the proof of the first attempt.
fn judge(program: Address, data: Vec<u8>) -> u32 {
    let mut account = sysvar(&[(program, data)], 0);
    let attempt = Attempt { job: &address(5), worker: &address(6), attempt: 1 };
    let output = Output { hash: &[7; 32], prompt_tokens: 20, completion_tokens: 300 };
    refusal(attempt.require_proven(&account.view(), 0, &address(8), &output))
}

#[test]
fn one_form_is_accepted_and_any_other_byte_that_is_not_of_the_signature_refused() {
    let proof = verification(&address(8), [7; 32]);
    assert_eq!(judge(ED25519_PROGRAM, proof.clone()), 0);
    assert_eq!(judge(address(3), proof.clone()), EscrowError::ProofMissing as u32);
    for at in 0..proof.len() {
        let mut changed = proof.clone();
        changed[at] ^= 1;
        let expected = match at {
            0..16 => EscrowError::ProofMalformed as u32,
            16..48 => EscrowError::ProofWrongKey as u32,
            // The runtime itself has verified the signature.
            48..112 => 0,
            _ => EscrowError::ProofWrongMessage as u32,
        };
        assert_eq!(judge(ED25519_PROGRAM, changed), expected, "byte {at}");
    }
}

#[test]
fn evidence_is_counted_back_from_the_outermost_instruction_and_never_past_the_first() {
    let proofs = [[1; 32], [2; 32]].map(|hash| verification(&address(8), hash));
    let [first, second] = proofs.map(|data| (ED25519_PROGRAM, data));
    let mut account = sysvar(&[first, second, (ID, vec![])], 2);
    let view = account.view();
    for (places, hash) in [(2, [1; 32]), (1, [2; 32])] {
        let found = Verification::<Proof>::before(&view, places).ok().unwrap();
        assert_eq!(found.message.output().hash, &hash);
    }
    for places in [0, 3, 4, usize::MAX] {
        assert!(Verification::<Proof>::before(&view, places).is_err(), "{places} places");
    }
}

proptest! {
    #[test]
    fn no_bytes_in_place_of_a_verification_are_read_as_one(data: Vec<u8>) {
        prop_assert_eq!(judge(ED25519_PROGRAM, data), EscrowError::ProofMalformed as u32);
    }
}
