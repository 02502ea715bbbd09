//! What is signed, and what of it convicts.

use pinocchio::Address;
use proptest::prelude::*;
use sha2_const_stable::Sha256;

use crate::{
    ID,
    checks::{
        evidence::{Evidence, Signed},
        message::Message,
        proof::Attempt,
    },
    error::EscrowError,
    state::{Job, Worker, job::Output, worker::Description},
    tests::{address, fresh, job::job, refusal, signatures::Signer},
    wire::text::Text,
};

const JOB: u8 = 5;
const WORKER: u8 = 6;
const WRONG_KEY: u32 = EscrowError::ProofWrongKey as u32;
const WRONG_MESSAGE: u32 = EscrowError::ProofWrongMessage as u32;
const INVALID: u32 = EscrowError::SignatureInvalid as u32;

/// What a proof states besides its job, worker and attempt.
#[derive(Clone, Copy)]
struct Stated {
    hash: [u8; 32],
    prompt_tokens: u32,
    completion_tokens: u32,
    commitment: [u8; 32],
}

const STATED: Stated =
    Stated { hash: [7; 32], prompt_tokens: 20, completion_tokens: 300, commitment: [8; 32] };

impl Stated {
    fn output(&self) -> Output<'_> {
        let Self { hash, prompt_tokens, completion_tokens, .. } = self;
        Output { hash, prompt_tokens: *prompt_tokens, completion_tokens: *completion_tokens }
    }

    /// The message that a worker signs the sha256 of.
    fn message(&self, attempt: u8) -> Vec<u8> {
        let mut message = b"svc-proof-v1".to_vec();
        for about in [ID, address(JOB), address(WORKER)] {
            message.extend(about.as_array());
        }
        message.push(attempt);
        message.extend(self.hash);
        message.extend(self.prompt_tokens.to_le_bytes());
        message.extend(self.completion_tokens.to_le_bytes());
        message.extend(self.commitment);
        message
    }
}

fn receipt_message(output_hash: [u8; 32]) -> Vec<u8> {
    let mut message = b"svc-delivery-v1".to_vec();
    for about in [ID, address(JOB)] {
        message.extend(about.as_array());
    }
    message.extend(output_hash);
    message
}

fn sha256(message: &[u8]) -> [u8; 32] {
    Sha256::new().update(message).finalize()
}

/// The signature of a message's sha256.
fn sign(signer: &Signer, message: &[u8]) -> [u8; 64] {
    signer.sign(&sha256(message))
}

#[test]
fn a_proof_is_the_one_message_that_its_signature_is_checked_against() {
    let signer = Signer::new(&[1; 32]);
    let about = Attempt { job: &address(JOB), worker: &address(WORKER), attempt: 1 };
    let proof = about.proof(&STATED.output(), &STATED.commitment);
    let message = STATED.message(1);
    assert_eq!((proof.bytes(), message.len()), (message.as_slice(), 181));
    assert!(proof.require_signed(&signer.address, &sign(&signer, &message)).is_ok());
    // The bytes themselves are not what is signed.
    let other = Signer::new(&[2; 32]);
    for (key, signature) in [
        (&signer.address, signer.sign(&message)),
        (&other.address, sign(&signer, &message)),
        (&signer.address, sign(&other, &message)),
    ] {
        assert_eq!(refusal(proof.require_signed(key, &signature)), INVALID);
    }
    for at in 0..message.len() {
        let mut changed = message.clone();
        changed[at] ^= 1;
        let signature = sign(&signer, &changed);
        assert_eq!(refusal(proof.require_signed(&signer.address, &signature)), INVALID, "{at}");
    }
}

/// A job that was settled at 20 s by the key given, on the proof of attempt 3.
fn settled_job(settled_by: &Address) -> Job {
    let mut job = job(8, 0, true);
    job.acknowledge(&address(WORKER), 3, 10).unwrap();
    job.prove(&STATED.output(), 20).unwrap();
    job.settle(&STATED.hash, 300, settled_by, 20).unwrap();
    job
}

fn worker(proof_key: &Address) -> Worker {
    let mut worker = fresh::<Worker>();
    let endpoint = Text::new(b"https://worker.example").ok().unwrap();
    worker.open(&address(1), &Description { proof_key, payout: &address(9), endpoint }, 0).unwrap();
    worker
}

/// The refusal of two proofs of the settled job, of which the first states what is recorded.
fn convict_worker(
    worker: &Worker,
    key: &Address,
    signatures: [&[u8; 64]; 2],
    other: &Stated,
) -> Result<[u8; 32], u32> {
    let job = settled_job(&address(4));
    let recorded = Signed {
        output: job.output(),
        request_commitment: &STATED.commitment,
        signature: signatures[0],
    };
    let other = Signed {
        output: other.output(),
        request_commitment: &other.commitment,
        signature: signatures[1],
    };
    Evidence { job_address: &address(JOB), job: &job, key }
        .against_worker(worker, &recorded, &other)
        .map_err(|error| error as u32)
}

#[test]
fn two_signed_proofs_of_one_attempt_convict_in_whatever_they_differ() {
    let signer = Signer::new(&[1; 32]);
    let worker = worker(&signer.address);
    let recorded = STATED.message(3);
    for other in [
        Stated { hash: [9; 32], ..STATED },
        Stated { prompt_tokens: 21, ..STATED },
        Stated { completion_tokens: 299, ..STATED },
        Stated { commitment: [9; 32], ..STATED },
    ] {
        let messages = [recorded.clone(), other.message(3)];
        let [first, second] = messages.each_ref().map(|message| sign(&signer, message));
        let convict = |signatures| convict_worker(&worker, &signer.address, signatures, &other);
        assert_eq!(convict([&first, &second]), Ok(sha256(&messages.concat())));
        assert_eq!(convict([&first, &first]), Err(INVALID));
        assert_eq!(convict([&second, &second]), Err(INVALID));
        assert_eq!(convict([&second, &first]), Err(INVALID));
        let of_another_attempt = sign(&signer, &other.message(2));
        assert_eq!(convict([&first, &of_another_attempt]), Err(INVALID));
    }
}

#[test]
fn a_proof_alone_and_a_strangers_proofs_convict_no_worker() {
    let [signer, stranger] = [1, 2].map(|secret| Signer::new(&[secret; 32]));
    let other = Stated { hash: [9; 32], ..STATED };
    let sign_both = |signer| [STATED, other].map(|stated| sign(signer, &stated.message(3)));
    let [first, second] = sign_both(&signer);
    let of_signer = worker(&signer.address);
    let key = &signer.address;
    assert_eq!(convict_worker(&of_signer, key, [&first, &first], &STATED), Err(WRONG_MESSAGE));

    let [by_stranger, other_by_stranger] = sign_both(&stranger);
    for signatures in [[&first, &other_by_stranger], [&by_stranger, &second]] {
        assert_eq!(convict_worker(&of_signer, key, signatures, &other), Err(INVALID));
    }
    let by_stranger = [&by_stranger, &other_by_stranger];
    let judged = convict_worker(&of_signer, &stranger.address, by_stranger, &other);
    assert_eq!(judged, Err(WRONG_KEY));
}

proptest! {
    /// The job was proven in second 20.
    #[test]
    fn a_key_that_was_changed_convicts_for_what_was_proven_before(changed_at in 18..23_i64) {
        let [old, new] = [1, 2].map(|secret| Signer::new(&[secret; 32]));
        let mut worker = worker(&old.address);
        let endpoint = Text::new(b"https://worker.example").ok().unwrap();
        let description =
            Description { proof_key: &new.address, payout: &address(9), endpoint };
        worker.update(&description, changed_at).unwrap();
        let other = Stated { hash: [9; 32], ..STATED };
        for (signer, convicts) in [(old, changed_at >= 20), (new, changed_at <= 20)] {
            let [first, second] =
                [STATED, other].map(|stated| sign(&signer, &stated.message(3)));
            let judged = convict_worker(&worker, &signer.address, [&first, &second], &other);
            prop_assert_eq!(judged.err(), if convicts { None } else { Some(WRONG_KEY) });
        }
    }
}

#[test]
fn a_receipt_of_another_hash_convicts_by_the_key_that_settled() {
    let [signer, stranger] = [1, 2].map(|secret| Signer::new(&[secret; 32]));
    let job = settled_job(&signer.address);
    let judge = |key: &Address, hash: [u8; 32], signature: &[u8; 64]| {
        Evidence { job_address: &address(JOB), job: &job, key }
            .against_gateway(None, &hash, signature)
            .map_err(|error| error as u32)
    };
    let message = receipt_message([9; 32]);
    assert_eq!(message.len(), 111);
    let signature = sign(&signer, &message);
    assert_eq!(judge(&signer.address, [9; 32], &signature), Ok(sha256(&message)));
    assert_eq!(judge(&signer.address, [10; 32], &signature), Err(INVALID));
    assert_eq!(judge(&signer.address, [9; 32], &sign(&stranger, &message)), Err(INVALID));
    assert_eq!(judge(&stranger.address, [9; 32], &sign(&stranger, &message)), Err(WRONG_KEY));
    let of_the_proven = sign(&signer, &receipt_message(STATED.hash));
    assert_eq!(judge(&signer.address, STATED.hash, &of_the_proven), Err(WRONG_MESSAGE));
}
