import { sha256 } from '#crypto';
import { areBytesEqual, concatBytes } from '../../platform/bytes.ts';
import { proofMessage, receiptMessage, verifySignature } from '../../proof.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import { type PlacedEvent, readSignedMessage, workersInForce } from './evidence.ts';
import type { JobRecord } from './record.ts';
import { NODE_SAYS_WHO_SIGNED, NOT_SHOWN, type Rule, rule } from './rule.ts';

type SignedMessage = NonNullable<ReturnType<typeof readSignedMessage>>;

/**
 * A verdict for the client rests on signatures that contradict each other. The program demanded them
 * right before its own instruction, and they are verified here again.
 */
export const evidence: Rule = rule(
  'dispute.evidence',
  ['JobProven', 'JobSettled', 'DisputeResolved'],
  ({ JobProven, JobSettled, DisputeResolved }, record) => {
    const { verdict, evidenceHash } = DisputeResolved.data;
    if (verdict === 'rejected') {
      return compare(
        { 'the hash of no evidence': [evidenceHash, NO_HASH] },
        'A rejection needs no evidence.',
      );
    }
    const signed = readEvidence(DisputeResolved, verdict === 'upheld_worker' ? 2 : 1);
    if (signed === undefined) {
      return DisputeResolved.transaction.message
        ? fails('The signed messages are not where they have to be.')
        : notCheckable(NOT_SHOWN);
    }
    const forged = signed.find((one) => !verifySignature(one));
    if (forged) return fails(`A signature is not ${forged.publicKey}'s.`);
    const hash = sha256(concatBytes(...signed.map(({ message }) => message)));
    if (!areBytesEqual(hash, evidenceHash)) return fails('The hash is not that of the messages.');
    return verdict === 'upheld_worker'
      ? judgeProofs(signed as [SignedMessage, SignedMessage], JobProven, record)
      : judgeReceipt(signed[0] as SignedMessage, JobSettled, record);
  },
);

const NO_HASH = new Uint8Array(32);
/** The part of a proof before its output: prefix, program, job, worker and attempt. */
const SUBJECT_BYTES = 12 + 3 * 32 + 1;
const PROOF_BYTES = SUBJECT_BYTES + 32 + 2 * 4;
/** The part of a receipt before its hash: prefix, program and job. */
const RECEIPT_SUBJECT_BYTES = 15 + 2 * 32;
const RECEIPT_BYTES = RECEIPT_SUBJECT_BYTES + 32;

/** The messages that the transaction verified right before the verdict, in their order. */
function readEvidence(
  { transaction, instructionIndex }: PlacedEvent<'DisputeResolved'>,
  count: number,
): SignedMessage[] | undefined {
  const found = Array.from({ length: count }, (_, at) =>
    readSignedMessage(transaction.instructions[instructionIndex - count + at]),
  );
  return found.every((one) => one !== undefined) ? found : undefined;
}

function judgeProofs(
  [recorded, other]: [SignedMessage, SignedMessage],
  proven: PlacedEvent<'JobProven'>,
  record: JobRecord,
): Finding {
  const { programId } = record.addresses;
  const message = proofMessage({ ...proven.data, programId });
  if (!areBytesEqual(recorded.message, message)) {
    return fails('The first message is not the recorded proof.');
  }
  const isOfTheSame =
    other.message.length === PROOF_BYTES &&
    areBytesEqual(other.message.subarray(0, SUBJECT_BYTES), message.subarray(0, SUBJECT_BYTES));
  if (!isOfTheSame) return fails('The second message is no proof of this attempt.');
  if (areBytesEqual(other.message, message)) return fails('Both messages are the same proof.');
  if (!recorded.publicKey.equals(other.publicKey)) return fails('Two keys signed the two proofs.');
  const { worker } = proven.data;
  const keys = workersInForce(record, { worker, at: proven.transaction });
  if (keys.length === 0) return notCheckable('The node does not show how the worker registered.');
  return keys.some(({ data }) => data.proofKey.equals(recorded.publicKey))
    ? holds(`${recorded.publicKey} signed two different proofs of attempt ${proven.data.attempt}.`)
    : fails(`${recorded.publicKey} was not the worker's proof key.`);
}

function judgeReceipt(
  receipt: SignedMessage,
  settled: PlacedEvent<'JobSettled'>,
  record: JobRecord,
): Finding {
  const { outputHash, job, settledBy } = settled.data;
  const proven = receiptMessage({ programId: record.addresses.programId, job, outputHash });
  const isOfTheJob =
    receipt.message.length === RECEIPT_BYTES &&
    areBytesEqual(
      receipt.message.subarray(0, RECEIPT_SUBJECT_BYTES),
      proven.subarray(0, RECEIPT_SUBJECT_BYTES),
    );
  if (!isOfTheJob) return fails('The message is no delivery receipt of this job.');
  if (areBytesEqual(receipt.message, proven)) return fails('The receipt names the proven text.');
  return receipt.publicKey.equals(settledBy)
    ? holds(`${settledBy}, who settled, signed that another text was delivered.`)
    : notCheckable(
        `${receipt.publicKey} did not settle the job: whether it signed for the controller then is ` +
          'not kept.',
      );
}

/** The wallet's hash may take the place of its controller's, by the wallet's own signature. */
export const amended: Rule = rule(
  'dispute.amended',
  ['JobLocked', 'JobDisputed', 'DisputeAmended'],
  ({ JobLocked, JobDisputed, DisputeAmended }) => {
    const { wallet } = JobLocked.data;
    const { signers, message } = DisputeAmended.transaction;
    if (JobDisputed.data.disputedByWallet) return fails('The wallet itself had disputed the job.');
    if (!message) return notCheckable(`${NODE_SAYS_WHO_SIGNED}.`);
    if (!signers.some((signer) => signer.equals(wallet))) {
      return notCheckable(
        'A program signed for the wallet, in a call that no list of signers shows.',
      );
    }
    return compare(
      { 'the proven hash': [DisputeAmended.data.outputHash, JobDisputed.data.outputHash] },
      `${wallet} put its own hash in place of its controller's.`,
    );
  },
);
