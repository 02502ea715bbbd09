import type { TransactionInstruction } from '@solana/web3.js';
import { PublicKey } from '#platform';
import { createAddresses, findAddress, PROGRAM_ID, UPGRADEABLE_LOADER } from './addresses.ts';
import * as generated from './generated/instructions.ts';
import { parseProof, parseReceiptMessage, type SignedMessage } from './proof.ts';

/**
 * Every instruction of the program, generated from its interface. Added is what an interface cannot
 * express: a signature that depends on an argument, accounts nearly always the same, and a verdict's
 * evidence.
 */
export * from './generated/instructions.ts';

/** What the authority may set, within the program's bounds. */
export type ConfigSettings = Omit<generated.ConfigUpdateInput, 'authority' | 'programId'>;

/**
 * Creates the program's one Config, its Treasury and its three token accounts.
 *
 * @param input.programData the program's own id where the old loader owns it, as in solana-bankrun
 */
export function configInitialize(
  input: Omit<generated.ConfigInitializeInput, 'programData'> & { programData?: PublicKey },
): TransactionInstruction {
  const seeds = [(input.programId ?? PROGRAM_ID).toBytes()];
  const programData = findAddress(seeds, UPGRADEABLE_LOADER);
  return generated.configInitialize({ programData, ...input });
}

type SpenderLimits = 'spender' | 'limitPerJobCredits' | 'limitPerDayCredits';
const NO_SPENDER = {
  spender: PublicKey.default,
  limitPerJobCredits: 0n,
  limitPerDayCredits: 0n,
};

/**
 * Opens a wallet's CreditAccount; anybody may pay its rent. Only the wallet can name a spender, so
 * it must sign when one is given, together with the spender's limits in credits.
 */
export function creditOpen(
  input: Omit<generated.CreditOpenInput, SpenderLimits> &
    (Pick<generated.CreditOpenInput, SpenderLimits> | { spender?: undefined }),
): TransactionInstruction {
  const { wallet } = input;
  if (input.spender === undefined) return generated.creditOpen({ ...input, ...NO_SPENDER });
  const instruction = generated.creditOpen(input);
  for (const key of instruction.keys) if (key.pubkey === wallet) key.isSigner = true;
  return instruction;
}

/**
 * Pays out what a settlement or verdict could only note down; anybody may call it.
 *
 * @param input.payout a worker's payout account; the other claimants are paid inside the program
 */
export function claimPay(
  input: Omit<generated.ClaimPayInput, 'payout'> & { payout?: PublicKey | undefined },
): TransactionInstruction {
  const { treasuryVault } = createAddresses(input.programId);
  return generated.claimPay({ ...input, payout: input.payout ?? treasuryVault });
}

const NO_HASH = new Uint8Array(32);

/** Adds a model or changes it. @param input.cardHash sha256 of its card; by default none is pinned */
export function modelUpsert(
  input: Omit<generated.ModelUpsertInput, 'cardHash'> & { cardHash?: Uint8Array },
): TransactionInstruction {
  return generated.modelUpsert({ cardHash: NO_HASH, ...input });
}

/** The arguments of a verdict that are its evidence. */
export type EvidenceArguments = Pick<
  generated.DisputeResolveInput,
  | 'key'
  | 'recordedStatement'
  | 'recordedSignature'
  | 'outputHash'
  | 'promptTokens'
  | 'completionTokens'
  | 'statement'
  | 'signature'
>;

const NO_SIGNATURE = new Uint8Array(64);
const NO_EVIDENCE: EvidenceArguments = {
  key: PublicKey.default,
  recordedStatement: NO_HASH,
  recordedSignature: NO_SIGNATURE,
  outputHash: NO_HASH,
  promptTokens: 0,
  completionTokens: 0,
  statement: NO_HASH,
  signature: NO_SIGNATURE,
};

/**
 * The arguments that are a verdict's evidence. The program puts the messages together again.
 *
 * @param evidence two proofs, the recorded one first; a delivery receipt, behind which the recorded
 *   proof may stand; or nothing
 * @throws RangeError for messages of another form
 */
export function evidenceArguments(evidence: readonly SignedMessage[]): EvidenceArguments {
  const [first, second] = evidence;
  if (first === undefined) return NO_EVIDENCE;
  const receipt = parseReceiptMessage(first.message);
  const [recorded, other] = receipt ? [second, first] : [first, second];
  const proof = recorded && parseProof(recorded.message);
  const said = receipt ?? (other && parseProof(other.message));
  if (!other || !said || evidence.length > 2 || (recorded && !proof)) {
    throw new RangeError('The evidence is neither two proofs nor a delivery receipt');
  }
  const { subject, ...contradicting } = said;
  return {
    ...NO_EVIDENCE,
    key: first.publicKey,
    ...(proof && { recordedStatement: proof.statement, recordedSignature: recorded.signature }),
    ...contradicting,
    signature: other.signature,
  };
}

/**
 * A verdict with its evidence.
 *
 * @param evidence for `upheld_worker` the recorded proof and the one that differs, in this order. For
 *   `upheld_gateway` the delivery receipt, and the recorded proof where its hash is the proven one. For
 *   `rejected` none
 */
export function verdictInstruction(
  evidence: readonly SignedMessage[],
  verdict: Omit<generated.DisputeResolveInput, keyof EvidenceArguments>,
): TransactionInstruction {
  return generated.disputeResolve({ ...verdict, ...evidenceArguments(evidence) });
}
