// A job from lock to settlement, with the program running inside this process.
import { hashOf, startEscrow } from '@svc-inference/testing';

const escrow = await startEscrow({ wallets: [{ credits: 100n }] });

// The price of 3,000 tokens is set aside before any work is done.
const job = await escrow.lock({ tokenLimit: 3_000 });
const { availableCredits, lockedCredits } = await escrow.creditAccount();
console.log(`${job.id}: ${lockedCredits} credits locked, ${availableCredits} available`);

// A worker takes the job, answers, and signs the sha256 of its text and the token counts.
await escrow.acknowledge(job);
const text = 'The whole answer, as the client received it.';
const proven = await escrow.prove(job, { text, promptTokens: 12, completionTokens: 2_100 });
console.log(`proven: ${Buffer.from(proven.outputHash).equals(hashOf(text))}`);

// The Gateway confirms what it delivered. The lower of both counts is charged, the rest returned.
const settled = await escrow.settle(job, { text, countedTokens: 2_090 });
console.log(`charged: ${settled.chargedCredits} credits for ${settled.countedTokens} tokens`);
const paid = await escrow.tokens(escrow.workers[0].payout);
console.log(`paid to the worker: ${paid} base units`);
console.log(`available again: ${(await escrow.creditAccount()).availableCredits} credits`);
