// The events of a job's transactions. They are calls of the program to itself, so that none can be
// pushed out of a log; Anchor's listeners do not see them.
import type { DecodedEvent } from '@svc-inference/client';
import { startEscrow } from '@svc-inference/testing';

const escrow = await startEscrow();

const job = await escrow.lock({ tokenLimit: 3_000 });
escrow.lastEvents().forEach(print);
await escrow.acknowledge(job);
escrow.lastEvents().forEach(print);
await escrow.prove(job, { completionTokens: 2_100 });
escrow.lastEvents().forEach(print);
await escrow.settle(job);
escrow.lastEvents().forEach(print);

// Or all three at once, as the service does for most jobs.
await escrow.complete(await escrow.lock());
escrow.lastEvents().forEach(print);
escrow.stop();

/** An event's name decides what its data holds. Sequences show whether one was missed. */
function print({ name, data }: DecodedEvent): void {
  switch (name) {
    case 'JobLocked':
      console.log(`${data.jobSequence} ${name}: ${data.lockedCredits} (${data.tier})`);
      break;
    case 'JobSettled':
    case 'JobCompleted':
      console.log(`${data.jobSequence} ${name}: ${data.chargedCredits} charged`);
      break;
    default:
      console.log(`${'jobSequence' in data ? data.jobSequence : '-'} ${name}`);
  }
}
