import { beforeEach, describe, expect, it } from '@jest/globals';
import { pauseSet } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withData } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const config = () => world.read('Config', addresses.config);
const pause = (depositsPaused: boolean, locksPaused: boolean, authority = world.authority) =>
  pauseSet({ authority: authority.publicKey, depositsPaused, locksPaused });

describe('pause_set', () => {
  it('sets both flags to any combination, including the current one', async () => {
    const { authority } = world;
    const before = await config();
    let configSequence = 1n;
    for (const [depositsPaused, locksPaused] of [
      [true, false],
      [true, true],
      [true, true],
      [false, true],
      [false, false],
    ] as const) {
      configSequence += 1n;
      const flags = { depositsPaused, locksPaused };
      const instruction = pause(depositsPaused, locksPaused);
      await expectEvent(world, [instruction], [authority], 'PauseSet', {
        ...{ configSequence, ...flags },
      });
      expect(await config()).toEqual({ ...before, sequence: configSequence, ...flags });
    }
  });

  it('refuses flags that are neither true nor false', async () => {
    for (const at of [8, 9]) {
      const data = Buffer.from(pause(true, true).data);
      data[at] = 2;
      const instruction = withData(pause(true, true), data);
      await expectRefusal(world, 'InvalidInstructionData', instruction, [world.authority]);
    }
  });

  it("requires the authority's signature", async () => {
    for (const signer of [world.arbiter, world.operator, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', pause(true, true, signer), [signer]);
    }
  });
});
