import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { IDL } from '../../programs/client/index.ts';
import { fieldsOf, width } from './support/idlTypes.ts';
import { jobIn } from './support/jobs.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});

describe('the committed IDL', () => {
  it('equals what the Rust source generates', () => {
    const script = join(import.meta.dirname, '../../programs/tools/idl.ts');
    execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' });
  });

  it('agrees with the program on the size and discriminator of every account', async () => {
    const job = await jobIn(world, 'pending');
    const accounts = {
      Config: addresses.config,
      Treasury: addresses.treasury,
      Gateway: world.gateway,
      CreditAccount: world.creditAccount,
      Model: world.model,
      Worker: world.worker,
      Job: job,
    };
    for (const [name, address] of Object.entries(accounts)) {
      const data = Buffer.from((await world.chain.account(address))?.data ?? []);
      const declared = IDL.accounts?.find((account) => account.name === name);
      expect([...data.subarray(0, 8)]).toEqual(declared?.discriminator);
      const fields = fieldsOf(name).map((field) => width(field.type));
      expect(data).toHaveLength(fields.reduce((sum, bytes) => sum + bytes, 8));
    }
  });
});
