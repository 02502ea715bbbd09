import type { PublicKey } from '@solana/web3.js';
import { sha256 } from '#platform';
import type { DisputeResolveInput } from '../../generated/instructions.ts';
import type { EvidenceArguments } from '../../instructions.ts';
import { areBytesEqual, concatBytes } from '../../platform/bytes.ts';
import { proofMessage, receiptMessage, type SignedMessage, verifyHashed } from '../../proof.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import { noCall } from './callRules.ts';
import { callOf, type PlacedEvent, workersInForce } from './evidence.ts';
import type { JobRecord } from './record.ts';
import { NODE_SAYS_WHO_SIGNED, type Rule, rule } from './rule.ts';

const NO_HASH = new Uint8Array(32);

/** What the arbiter asked the program for. */
type Given = EvidenceArguments & Pick<DisputeResolveInput, 'verdict'>;

/**
 * A verdict for the client rests on signatures that contradict each other. The program verified them,
 * and they are verified here again.
 */
export const evidence: Rule = rule(
  'dispute.evidence',
  ['JobProven', 'JobSettled', 'DisputeResolved'],
  ({ JobProven, JobSettled, DisputeResolved }, record) => {
    const { verdict, evidenceHash } = DisputeResolved.data;
    const { programId } = record.addresses;
    const call = callOf(DisputeResolved, ['dispute_resolve'], programId);
    if (call === undefined) return noCall(DisputeResolved, 'gives the verdict');
    const given = call.values as unknown as Given;
    if (given.verdict !== verdict) return fails(`The verdict that was given is ${given.verdict}.`);
    if (verdict === 'rejected') {
      return compare(
        { 'the hash of no evidence': [evidenceHash, NO_HASH] },
        'A rejection needs no evidence.',
      );
    }
    const signed =
      verdict === 'upheld_worker'
        ? proofsOf(given, JobProven, record)
        : receiptWith(given, JobProven, JobSettled, record);
    const forged = signed.find((one) => !verifyHashed(one));
    if (forged) return fails(`A signature is not ${forged.publicKey}'s.`);
    const hash = sha256(concatBytes(...signed.map(({ message }) => message)));
    if (!areBytesEqual(hash, evidenceHash)) return fails('The hash is not that of the messages.');
    return verdict === 'upheld_worker'
      ? judgeProofs(signed, JobProven, record)
      : judgeReceipt(given, JobProven, JobSettled);
  },
);

/** Both proofs, put together as the program does: the recorded one, then the other. */
function proofsOf(
  given: Given,
  { data }: PlacedEvent<'JobProven'>,
  { addresses: { programId } }: JobRecord,
): SignedMessage[] {
  const { outputHash, promptTokens, completionTokens, statement } = given;
  const recorded = { ...data, programId, statement: given.recordedStatement };
  const other = { ...recorded, outputHash, promptTokens, completionTokens, statement };
  return [
    { publicKey: given.key, message: proofMessage(recorded), signature: given.recordedSignature },
    { publicKey: given.key, message: proofMessage(other), signature: given.signature },
  ];
}

/** The receipt. Where it is for the proven text, the recorded proof stands beside it. */
function receiptWith(
  given: Given,
  proven: PlacedEvent<'JobProven'>,
  { data: settled }: PlacedEvent<'JobSettled'>,
  record: JobRecord,
): SignedMessage[] {
  const { key, outputHash, statement, signature } = given;
  const { programId } = record.addresses;
  const message = receiptMessage({ programId, job: settled.job, outputHash, statement });
  const receipt = { publicKey: key, message, signature };
  if (!areBytesEqual(outputHash, settled.outputHash)) return [receipt];
  const [recorded] = proofsOf(given, proven, record) as [SignedMessage];
  return [receipt, { ...recorded, publicKey: proven.data.proofKey }];
}

function judgeProofs(
  signed: readonly SignedMessage[],
  { data: { worker, attempt, proofKey }, transaction }: PlacedEvent<'JobProven'>,
  record: JobRecord,
): Finding {
  const [recorded, other] = signed as [SignedMessage, SignedMessage];
  if (areBytesEqual(other.message, recorded.message)) {
    return fails('Both messages are the same proof.');
  }
  const key: PublicKey = recorded.publicKey;
  const keys = workersInForce(record, { worker, at: transaction }).map(({ data }) => data.proofKey);
  // `proof.key` judges whether the proof was by the worker's key.
  if ([proofKey, ...keys].some((one) => one.equals(key))) {
    return holds(`${key} signed two different proofs of attempt ${attempt}.`);
  }
  return keys.length === 0 || record.worker.hasGaps
    ? notCheckable('The node does not show every change of the worker that may have set its key.')
    : fails(`${key} was not the worker's proof key.`);
}

function judgeReceipt(
  { key, outputHash, statement, recordedStatement }: Given,
  { data: proven }: PlacedEvent<'JobProven'>,
  { data: settled }: PlacedEvent<'JobSettled'>,
): Finding {
  if (areBytesEqual(outputHash, settled.outputHash)) {
    if (!areBytesEqual(recordedStatement, proven.statement)) {
      return fails('The proof beside the receipt is not the recorded one.');
    }
    if (areBytesEqual(statement, proven.statement)) {
      return fails('The receipt names the proven text and statement.');
    }
  }
  return key.equals(settled.settledBy)
    ? holds(`${key}, who settled, signed that another answer was delivered.`)
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
    const found = compare(
      {
        'the proven hash': [DisputeAmended.data.outputHash, JobDisputed.data.outputHash],
        'the disputed worker': [DisputeAmended.data.worker, JobDisputed.data.worker],
      },
      `${wallet} put its own hash in place of its controller's.`,
    );
    if (found.verdict === 'fails') return found;
    if (!message) return notCheckable(`${NODE_SAYS_WHO_SIGNED}.`);
    if (!signers.some((signer) => signer.equals(wallet))) {
      return notCheckable(
        'A program signed for the wallet, in a call that no list of signers shows.',
      );
    }
    return found;
  },
);
