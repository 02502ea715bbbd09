import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import {
  PublicKey,
  parseProof,
  parseReceipt,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  statementOf,
  verifyHashed,
} from '@svc-inference/client/wallet';
import type { DisputeList } from '../../../api/contracts/index.ts';

export type OpenDispute = DisputeList['data'][number];

/** Evidence as the program will judge it: what to send, or why it proves no fault. */
export type Judged =
  | {
      readonly convicts: true;
      readonly evidence: readonly SignedMessage[];
      readonly finding: string;
    }
  | { readonly convicts: false; readonly finding: string };

const refuse = (finding: string): Judged => ({ convicts: false, finding });
const hashOf = (text: string | null): string => (text ?? '').replace(/^sha256:/, '');

/**
 * Against the gateway: a receipt for the client's text, where the proof is of another one; or for
 * another statement than the recorded proof has.
 *
 * @param svc of the client's answer, as JSON
 * @param recorded the recorded proof, where the statement alone differs; else empty
 */
export function judgeReceipt(
  svc: string,
  recorded: string,
  dispute: OpenDispute,
  programId: string,
): Judged {
  const delivered = parseDelivered(svc);
  if (delivered === undefined) return refuse('This is not the svc of an answer, with a receipt.');
  const { signer, signature, statement } = delivered;
  const receiptOf = (hash: string): SignedMessage => ({
    publicKey: signer,
    message: receiptMessage({
      programId: new PublicKey(programId),
      job: new PublicKey(dispute.job_address),
      ...{ outputHash: hexToBytes(hash), statement },
    }),
    signature,
  });
  const [ofClient, ofProof] = [dispute.your_hash, dispute.proof_hash].map(hashOf);
  const found = [ofClient, ofProof].find((hash) => hash && verifyHashed(receiptOf(hash)));
  if (found === undefined) {
    return refuse("The receipt was not signed for this job and the client's answer.");
  }
  const by = `${signer.toBase58()} signed that the client's`;
  if (found !== ofProof) {
    const finding = `${by} text was delivered; the proof is of another.`;
    return { convicts: true, evidence: [receiptOf(found)], finding };
  }
  const proof = parseSigned(recorded);
  if (proof === undefined) {
    return refuse('The receipt is for the proven text: only the recorded proof can show a fault.');
  }
  const fault = faultOf(proof, dispute, programId);
  if (fault !== undefined) return refuse(fault);
  const proven = parseProof(proof.message)?.statement ?? new Uint8Array();
  if (bytesToHex(proven) === bytesToHex(statement)) {
    return refuse('The receipt says what the proof says: it proves no fault.');
  }
  const finding = `${by} answer was delivered; the proof has another statement.`;
  return { convicts: true, evidence: [receiptOf(found), proof], finding };
}

/** The receipt of an answer, and the statement of the halves that it names. */
function parseDelivered(svc: string) {
  try {
    const said = JSON.parse(svc) as Record<string, string>;
    const receipt = parseReceipt(said.delivery_receipt ?? '');
    const statement = statementOf({
      requestCommitment: hexToBytes(said.request_commitment ?? ''),
      answerDetails: hexToBytes(said.answer_details ?? ''),
    });
    return receipt && { ...receipt, statement };
  } catch {
    return undefined;
  }
}

/** Against the worker: the recorded proof, and another one of the same attempt. */
export function judgeProofs(
  texts: readonly [string, string],
  dispute: OpenDispute,
  programId: string,
): Judged {
  const recorded = parseSigned(texts[0]);
  const other = parseSigned(texts[1]);
  if (recorded === undefined) return refuse('The recorded proof is not a signed message.');
  if (other === undefined) return refuse('The other proof is not a signed message.');
  for (const proof of [recorded, other]) {
    const fault = faultOf(proof, dispute, programId);
    if (fault !== undefined) return refuse(fault);
  }
  const outputHash = parseProof(recorded.message)?.outputHash ?? new Uint8Array();
  if (bytesToHex(outputHash) !== hashOf(dispute.proof_hash)) {
    return refuse('The first proof is not the recorded one: its text is another.');
  }
  if (bytesToHex(recorded.message) === bytesToHex(other.message)) {
    return refuse('Both proofs say the same: they prove no fault.');
  }
  if (recorded.publicKey.toBase58() !== other.publicKey.toBase58()) {
    return refuse('The proofs were signed by two keys.');
  }
  return {
    convicts: true,
    evidence: [recorded, other],
    finding: 'The worker signed two different proofs of one attempt. It loses stake.',
  };
}

/** Why a message is no proof about this job; undefined where it is one. */
function faultOf(
  signed: SignedMessage,
  dispute: OpenDispute,
  programId: string,
): string | undefined {
  const proof = parseProof(signed.message);
  if (proof === undefined) return "A message is not a worker's proof.";
  const ofThisJob = proofMessage({
    ...proof,
    programId: new PublicKey(programId),
    job: new PublicKey(dispute.job_address),
    worker: new PublicKey(dispute.worker_address ?? ''),
    attempt: dispute.attempt,
  });
  if (bytesToHex(ofThisJob) !== bytesToHex(signed.message)) {
    return 'A proof is of another job, worker or attempt.';
  }
  return verifyHashed(signed) ? undefined : 'A signature does not fit its message.';
}

/** The JSON that `svc send --signed-message` reads, too. */
function parseSigned(text: string): SignedMessage | undefined {
  try {
    const { public_key, message, signature } = JSON.parse(text) as Record<string, string>;
    return {
      publicKey: new PublicKey(public_key ?? ''),
      message: hexToBytes(message ?? ''),
      signature: base58.decode(signature ?? ''),
    };
  } catch {
    return undefined;
  }
}
