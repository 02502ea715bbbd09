import type { EscrowErrorName } from '../generated/types.ts';
import type { Refusal } from '../sender/sendResult.ts';

/** Why the program refuses, for those who have to do something about it. */
const SENTENCES: Partial<Record<EscrowErrorName, string>> = {
  DepositsPaused: 'Buying credits is paused by the authority of the program.',
  CreditAccountFull:
    'The account would hold more credits, available and locked together, than the program allows one account.',
  InsufficientCredits: 'The account has fewer credits available than this takes.',
  AlreadyInitialized: 'The account exists already. Start again with its present state.',
  DisputeWindowClosed: 'The dispute window is over: it lasts 60 seconds from the settlement.',
  DisputeLimitReached: 'The wallet has as many open disputes as it may have.',
  AlreadyDisputed: 'The job was disputed before.',
  HashesEqual: 'Your text is the proven one, so there is nothing to dispute.',
  VerdictTooEarly: 'The dispute window is still open. The verdict can follow when it ends.',
  ArbitrationClosed: 'The arbitration window is over. Anybody can expire the dispute now.',
  ProofWrongKey: 'The evidence was signed by a key that does not count for this job.',
  ProofWrongMessage: 'The evidence says nothing that counts about this job.',
  Unauthorized: 'This wallet may not do this.',
};

/** What the token and system programs say where an account has too little. */
const INSUFFICIENT = '{"Custom":1}';

/**
 * A refusal of the ledger in one sentence.
 *
 * @param creditMint the mint of the stablecoin, where the transaction is about it
 */
export function refusalSentence({ name }: Refusal, creditMint?: string): string {
  const own = SENTENCES[name as EscrowErrorName];
  if (own !== undefined) return own;
  const stablecoin = creditMint === undefined ? 'stablecoin' : `stablecoin (mint ${creditMint})`;
  if (name === 'WrongTokenAccount') {
    return `The wallet's account of the ${stablecoin} is missing, frozen, or not the expected one.`;
  }
  if (name === 'WrongMint') {
    return `The token account holds another token than the ${stablecoin}.`;
  }
  if (/^AccountNotFound|^InsufficientFunds/.test(name)) {
    return 'The wallet has no SOL for the fee of the transaction, or too little.';
  }
  if (name === INSUFFICIENT) {
    return `The wallet holds too little of the ${stablecoin}, or too little SOL for the rent of a new account.`;
  }
  if (name === 'BlockhashNotFound') {
    return 'It was signed too late: the ledger waits for half a minute. Sign it again.';
  }
  return `The ledger refuses it: ${name}.`;
}
