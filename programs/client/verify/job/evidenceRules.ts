import type { PublicKey } from '@solana/web3.js';
import { sha256 } from '#crypto';
import type { DisputeResolveInput } from '../../generated/instructions.ts';
import { areBytesEqual, concatBytes } from '../../platform/bytes.ts';
import { proofMessage, receiptMessage, type SignedMessage, verifyHashed } from '../../proof.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import { type PlacedEvent, readArguments, workersInForce } from './evidence.ts';
import type { JobRecord } from './record.ts';
import { NODE_SAYS_WHO_SIGNED, NOT_SHOWN, type Rule, rule } from './rule.ts';

const NO_HASH = new Uint8Array(32);

/**
 * A verdict for the client rests on signatures that contradict each other. The program verified them,
 * and they are verified here again.
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
    const given = readVerdict(DisputeResolved, record);
    if (given === undefined) {
      return DisputeResolved.transaction.message
        ? fails('No instruction of the transaction brings the evidence.')
        : notCheckable(NOT_SHOWN);
    }
    const signed =
      verdict === 'upheld_worker'
        ? proofsOf(given, JobProven, record)
        : [receiptOf(given, JobSettled, record)];
    if (!signed.every(verifyHashed)) return fails(`A signature is not ${given.key}'s.`);
    const hash = sha256(concatBytes(...signed.map(({ message }) => message)));
    if (!areBytesEqual(hash, evidenceHash)) return fails('The hash is not that of the messages.');
    return verdict === 'upheld_worker'
      ? judgeProofs(signed, JobProven, record)
      : judgeReceipt(given, JobSettled);
  },
);

/** The arguments of the verdict's own instruction. */
function readVerdict(
  { data: { job }, transaction, instructionIndex }: PlacedEvent<'DisputeResolved'>,
  { addresses }: JobRecord,
): DisputeResolveInput | undefined {
  const outer = transaction.instructions[instructionIndex];
  return (outer ? [outer, ...outer.inner] : [])
    .filter(({ programId }) => programId === addresses.programId.toBase58())
    .filter(({ accounts }) => accounts.includes(job.toBase58()))
    .map(({ data }) => readArguments('dispute_resolve', data))
    .find((found) => found !== undefined) as DisputeResolveInput | undefined;
}

/** Both proofs, put together as the program does: the recorded one, then the other. */
function proofsOf(
  given: DisputeResolveInput,
  { data }: PlacedEvent<'JobProven'>,
  { addresses: { programId } }: JobRecord,
): SignedMessage[] {
  const { outputHash, promptTokens, completionTokens, requestCommitment } = given;
  const recorded = { ...data, programId, requestCommitment: given.recordedRequestCommitment };
  const other = { ...recorded, outputHash, promptTokens, completionTokens, requestCommitment };
  return [
    {
      publicKey: given.key,
      message: proofMessage(recorded),
      signature: given.recordedSignature,
    },
    { publicKey: given.key, message: proofMessage(other), signature: given.signature },
  ];
}

function receiptOf(
  { key, outputHash, signature }: DisputeResolveInput,
  { data: { job } }: PlacedEvent<'JobSettled'>,
  { addresses: { programId } }: JobRecord,
): SignedMessage {
  return { publicKey: key, message: receiptMessage({ programId, job, outputHash }), signature };
}

function judgeProofs(
  signed: readonly SignedMessage[],
  { data: { worker, attempt }, transaction }: PlacedEvent<'JobProven'>,
  record: JobRecord,
): Finding {
  const [recorded, other] = signed as [SignedMessage, SignedMessage];
  if (areBytesEqual(other.message, recorded.message)) {
    return fails('Both messages are the same proof.');
  }
  const keys = workersInForce(record, { worker, at: transaction });
  if (keys.length === 0) return notCheckable('The node does not show how the worker registered.');
  const key: PublicKey = recorded.publicKey;
  return keys.some(({ data }) => data.proofKey.equals(key))
    ? holds(`${key} signed two different proofs of attempt ${attempt}.`)
    : fails(`${key} was not the worker's proof key.`);
}

function judgeReceipt(
  { key, outputHash }: DisputeResolveInput,
  { data: settled }: PlacedEvent<'JobSettled'>,
): Finding {
  if (areBytesEqual(outputHash, settled.outputHash)) {
    return fails('The receipt names the proven text.');
  }
  return key.equals(settled.settledBy)
    ? holds(`${key}, who settled, signed that another text was delivered.`)
    : notCheckable(
        `${key} did not settle the job: whether it signed for the controller then is not kept.`,
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
