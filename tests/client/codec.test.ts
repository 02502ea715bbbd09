import { describe, expect, it } from '@jest/globals';
import { accountFilter } from '../../programs/client/accounts.ts';
import {
  ACCOUNT_KINDS,
  accountFieldOffset,
  accountSize,
  DISCRIMINATOR_BYTES,
  decodeArguments,
  decodeStruct,
  PROGRAM_EVENTS,
} from '../../programs/client/codec.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import type { Field } from '../../programs/client/interface.ts';
import { coder, fromCoder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomFields, randomStruct } from './randomValue.ts';

const random = createRandom();
const ROUNDS = 20;

/** Accounts and events; the other types are enumerations. */
const STRUCTS = idl.types.filter(({ type }) => 'fields' in type).map(({ name }) => name);

/** For a list's length, however wrong, Anchor's coder takes as much memory as it says. */
const EVENTS_WITHOUT_LISTS = idl.events
  .map(({ name }) => name)
  .filter(
    (name) => !JSON.stringify(idl.types.find((type) => type.name === name)).includes('"vec"'),
  );

describe(`our decoder, compared with Anchor’s coder (seed ${random.seed})`, () => {
  it.each(STRUCTS)('reads the same values of any %s', (name) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { data, forCoder } = randomStruct(name, random);
      const bytes = coder.types.encode(name, forCoder);
      const anchors = fromCoder(coder.types.decode(name, bytes));
      const ours = decodeStruct(name, bytes);
      expect(ours).toStrictEqual(anchors);
      expect(ours).toStrictEqual(data);
    }
  });

  it.each(idl.accounts.map(({ name }) => name as 'Job'))(
    'reads any bytes of a %s the same',
    (name) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const bytes = Buffer.from(random.bytes(accountSize(name)));
        const anchors = outcome(() => fromCoder(coder.accounts.decodeUnchecked(name, bytes)));
        const ours = outcome(() => decodeStruct(name, bytes.subarray(DISCRIMINATOR_BYTES)));
        expect(ours).toStrictEqual(anchors);
      }
    },
  );

  it.each(EVENTS_WITHOUT_LISTS)('refuses any other bytes of a %s the same', (name) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const bytes = Buffer.from(coder.types.encode(name, randomStruct(name, random).forCoder));
      const at = random.below(bytes.length);
      bytes.writeUInt8(random.below(256), at);
      expect(outcome(() => decodeStruct(name, bytes))).toStrictEqual(
        outcome(() => roundTrip(name, bytes)),
      );
    }
  });

  it('refuses a list that claims to be longer than the event', () => {
    const bytes = Buffer.from(random.bytes(400));
    bytes.fill(0xff, 32);
    expect(() => decodeStruct('GatewayOpened', bytes)).toThrow();
  });

  it('has the same kinds, sizes and filters', () => {
    for (const { name, discriminator } of ACCOUNT_KINDS) {
      expect(coder.accounts.accountDiscriminator(name)).toEqual(Buffer.from(discriminator));
      expect(accountSize(name)).toBe(coder.accounts.size(name));
      expect(accountFilter(name as 'Job')).toEqual({ memcmp: coder.accounts.memcmp(name) });
    }
    expect(PROGRAM_EVENTS.map(({ name }) => name)).toEqual(idl.events.map(({ name }) => name));
  });

  it('returns where a field begins', () => {
    const { data, forCoder } = randomStruct('Job', random);
    const at = accountFieldOffset('Job', 'job_id') - DISCRIMINATOR_BYTES;
    const bytes = coder.types.encode('Job', forCoder);
    expect(new Uint8Array(bytes.subarray(at, at + 16))).toEqual(data.jobId);
  });

  it('keeps a copy of its input', () => {
    const { data, forCoder } = randomStruct('JobProven', random);
    const bytes = coder.types.encode('JobProven', forCoder);
    const decoded = decodeStruct('JobProven', bytes);
    bytes.fill(0);
    expect(decoded).toEqual(data);
  });
});

describe(`the arguments of an instruction (seed ${random.seed})`, () => {
  const encodeArguments = (name: string) => {
    const args = idl.instructions.find((item) => item.name === name)?.args as Field[];
    const { data, forCoder } = randomFields(args, random);
    return { data, bytes: coder.instruction.encode(name, forCoder) };
  };

  it.each(idl.instructions.map(({ name }) => name))(
    'are read as Anchor’s coder writes them: %s',
    (name) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { data, bytes } = encodeArguments(name);
        expect(decodeArguments(name, bytes)).toStrictEqual(data);
      }
      const { bytes } = encodeArguments(name);
      for (const wrong of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.alloc(1)])]) {
        // Without its last byte a call of no arguments is no such call.
        if (wrong.length < DISCRIMINATOR_BYTES)
          expect(decodeArguments(name, wrong)).toBeUndefined();
        else expect(() => decodeArguments(name, wrong)).toThrow();
      }
    },
  );

  it('are not read from another instruction, or from nothing', () => {
    const { bytes } = encodeArguments('job_complete');
    expect(decodeArguments('job_settle', bytes)).toBeUndefined();
    expect(decodeArguments('job_complete', bytes.subarray(1))).toBeUndefined();
    expect(decodeArguments('job_complete', new Uint8Array())).toBeUndefined();
  });
});

/** What an event says, as Anchor's coder reads it; it must write exactly these bytes. */
function roundTrip(name: string, bytes: Buffer) {
  const decoded = coder.types.decode(name, bytes) as Record<string, unknown>;
  if (!coder.types.encode(name, decoded).equals(bytes)) throw new Error('other bytes');
  return fromCoder(decoded);
}

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return 'refused';
  }
}
