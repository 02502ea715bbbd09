import { Ed25519Program, PublicKey } from '@solana/web3.js';
import { ed25519Instruction, proofMessage, verifySignature } from '../../../proof.ts';
import { fails, holds, notCheckable } from '../../check.ts';
import { compare, show } from '../../compare.ts';
import type { PlacedEvent } from '../evidence.ts';
import type { JobRecord } from '../record.ts';
import { rule } from '../rule.ts';
import { workersInForce } from '../workersInForce.ts';

/** Where the one form that the program accepts keeps the key, the signature and the message. */
const KEY_AT = 16;
const SIGNATURE_AT = 48;
const MESSAGE_AT = 112;

/** The precompile verified the worker's signature, and so does this check, of exactly this proof. */
export const signature = rule('proof.signature', ['JobProven'], ({ JobProven }, record) => {
  const signed = findSigned(JobProven, record);
  if (!signed) return fails('No ed25519 instruction of the transaction verifies this proof.');
  const key = signed.publicKey.toBase58();
  return verifySignature(signed)
    ? holds(`${key} signed the ${signed.message.length} bytes of the proof.`)
    : fails(`The signature is not ${key}'s.`);
});

/** The key is the one that the ledger recorded for the worker when it proved. */
export const key = rule('proof.key', ['JobProven'], ({ JobProven }, record) => {
  const signed = findSigned(JobProven, record);
  if (!signed) return notCheckable('No ed25519 instruction of the transaction names a key.');
  const { worker } = JobProven.data;
  const { slot } = JobProven.transaction;
  const recorded = workersInForce(record, { worker, slot }).map(({ data }) => data.proofKey);
  if (recorded.length === 0) {
    return notCheckable('The node does not show how the worker registered.');
  }
  if (recorded.some((one) => one.equals(signed.publicKey))) {
    return holds(`${signed.publicKey} was the worker's proof key.`);
  }
  const { hasGaps, account } = record.worker;
  return hasGaps || account?.proofKey.equals(signed.publicKey)
    ? notCheckable('The node does not show every change of the worker that may have set its key.')
    : fails(`The worker's proof key was ${recorded.join(' or ')}, not ${signed.publicKey}.`);
});

/** What was proven is what was settled. */
export const hash = rule('proof.hash', ['JobProven', 'JobSettled'], ({ JobProven, JobSettled }) => {
  const proven = JobProven.data;
  const settled = JobSettled.data;
  return compare(
    {
      'the settled hash': [settled.outputHash, proven.outputHash],
      'the settled worker': [settled.worker, proven.worker],
      'the settled prompt count': [settled.promptTokens, proven.promptTokens],
      'the settled completion count': [settled.completionTokens, proven.completionTokens],
    },
    `sha256:${show(proven.outputHash)}`,
  );
});

/** Finds the precompile's instruction by the message that only this proof has. */
function findSigned({ data, transaction }: PlacedEvent<'JobProven'>, record: JobRecord) {
  const { programId } = record.addresses;
  const message = proofMessage({ ...data, programId });
  for (const instruction of transaction.instructions) {
    if (instruction.programId !== Ed25519Program.programId.toBase58()) continue;
    const bytes = Buffer.from(instruction.data);
    if (!bytes.subarray(MESSAGE_AT).equals(message)) continue;
    const publicKey = new PublicKey(bytes.subarray(KEY_AT, SIGNATURE_AT));
    const signed = { publicKey, message, signature: bytes.subarray(SIGNATURE_AT, MESSAGE_AT) };
    if (bytes.equals(ed25519Instruction(signed).data)) return signed;
  }
  return undefined;
}
