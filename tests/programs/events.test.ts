import { describe, expect, it } from '@jest/globals';
import { type DecodedEvent, IDL } from '../../programs/client/index.ts';
import { clockOf, readState, spelled, spokenFields } from './support/emission.ts';
import { walkThrough } from './support/walkthrough.ts';

/** Text and lists have another form in accounts: the tests of each instruction compare those. */
const OTHER_FORMS = ['id', 'label', 'originator', 'endpoint', 'signers'];

describe('every instruction', () => {
  it('emits one event with the state of its accounts afterwards', async () => {
    const seen = new Set<string>();
    await walkThrough(async ({ world, name, instructions, signers }) => {
      const { chain } = world;
      await chain.send(instructions, signers);
      const events = chain.lastEvents();
      expect([name, events.length]).toEqual([name, 1]);
      const event = events[0] as DecodedEvent;
      seen.add(event.name);
      const data: Record<string, unknown> = { ...event.data };
      const due = {
        ...(await clockOf(world)),
        ...spokenFields(data, await readState(world, data)),
      };
      for (const field of OTHER_FORMS) Reflect.deleteProperty(due, field);
      expect(spelled(data)).toMatchObject(spelled(due) as object);
    });
    expect([...seen].sort()).toEqual((IDL.events ?? []).map(({ name }) => name).sort());
  });
});
