import { startEscrow } from '@svc-inference/testing';

const escrow = await startEscrow();
const job = await escrow.jobIn('settled');

// Within 60 seconds of the settlement the wallet may say what it received.
await escrow.advanceSeconds(60);
await escrow.dispute(job, 'The text that arrived.');

// Once that window is over, and within 24 hours, the arbiter decides. Two proofs of one attempt that
// contradict each other convict the worker; the program checks both signatures.
await escrow.advanceSeconds(1);
const verdict = await escrow.resolve(job, 'upheld_worker');
console.log(`outcome: ${verdict.outcome}`);
console.log(`stake left: ${(await escrow.worker()).stakeTokens} tokens`);

// The charge is owed to the wallet. Anybody has it paid, as far as the treasury has got: here one
// credit, its share of this very charge.
const { owedCredits } = await escrow.creditAccount();
console.log(`owed: ${owedCredits} credits`);
await escrow.claim(escrow.wallets[0]);
console.log(`still owed: ${(await escrow.creditAccount()).owedCredits} credits`);
