import { describe, it } from '@jest/globals';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal } from './support/expectations.ts';
import { cases } from './support/refusals/cases.ts';
import { send } from './support/world.ts';

// Wrong accounts and signers: accounts.test.ts. Each status of a job by each signer: jobMatrix.test.ts.
describe('an instruction', () => {
  it.each(cases)(
    '$instruction refuses with $refusal: $what [failures.ledger-time]',
    async ({ refusal, start, refused, taken }) => {
      const world = await start();
      await expectRefusal(world, refusal, await refused(world));
      if (taken) await send(world, await taken(world));
      // Before the program is initialized there is nothing to count.
      const isOpen = (await world.chain.account(world.creditAccount)) !== null;
      if (isOpen) await expectConserved(world);
    },
  );
});
