import { Refusal, startEscrow } from '@svc-inference/testing';

const escrow = await startEscrow({ wallets: [{ credits: 100n }] });
const job = await escrow.lock();
await escrow.acknowledge(job);

// At 120 seconds the worker may still settle, so a refund is refused by the program's own rule.
await escrow.advanceSeconds(120);
try {
  await escrow.refund(job);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.log(`after 120 s: ${error.message}`);
}

await escrow.advanceSeconds(1);
const refunded = await escrow.refund(job);
console.log(`after 121 s: ${refunded.status}`);
console.log(`available: ${(await escrow.creditAccount()).availableCredits} credits`);
