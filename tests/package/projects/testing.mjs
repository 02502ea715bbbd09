// A test of the program: packed.test.ts runs this in a project with @svc-inference/testing and LiteSVM.
import { startEscrow } from '@svc-inference/testing';

const escrow = await startEscrow();
const job = await escrow.lock();
const tooEarly = await escrow.refund(job).catch(({ message }) => message);
await escrow.acknowledge(job);
await escrow.prove(job, { text: 'Hello.' });
const { chargedCredits } = await escrow.settle(job, { text: 'Hello.' });
process.stdout.write(`${tooEarly} ${chargedCredits}`);
