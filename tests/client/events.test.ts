import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { PublicKey } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import {
  decodeEventData,
  decodeEvents,
  type ExecutedTransaction,
} from '../../programs/client/events.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomStruct } from './randomValue.ts';

const random = createRandom();
const TAG = Buffer.from('e445a52e51cb9a1d', 'hex');
const { eventAuthority } = createAddresses();
const stranger = new PublicKey(random.bytes(32));

/** Positions in the transaction's keys. */
const [PAYER, PROGRAM, AUTHORITY] = [0, 1, 2];

interface Call {
  programIdIndex: number;
  accounts: number[];
  data: string;
}

function encode(name: string) {
  const { data, forCoder } = randomStruct(name, random);
  const discriminator = idl.events.find((event) => event.name === name)?.discriminator ?? [];
  const bytes = Buffer.concat([
    TAG,
    Buffer.from(discriminator),
    coder.types.encode(name, forCoder),
  ]);
  return { bytes, event: { name, data } };
}

function call(bytes: Uint8Array, change: Partial<Call> = {}): Call {
  return { programIdIndex: PROGRAM, accounts: [AUTHORITY], data: base58.encode(bytes), ...change };
}

function transaction(inner: { index: number; instructions: Call[] }[], err: unknown = null) {
  return {
    transaction: { message: { staticAccountKeys: [stranger, PROGRAM_ID, eventAuthority] } },
    meta: { err, innerInstructions: inner },
  } satisfies ExecutedTransaction;
}

describe(`events (seed ${random.seed})`, () => {
  it('are decoded at their places, in the order of emission', () => {
    const [locked, proven, settled] = ['JobLocked', 'JobProven', 'JobSettled'].map(encode);
    const events = decodeEvents(
      transaction([
        { index: 0, instructions: [transfer(), call(bytesOf(locked))] },
        { index: 3, instructions: [call(bytesOf(proven)), transfer(), call(bytesOf(settled))] },
      ]),
    );
    expect(events).toEqual([
      { ...locked?.event, instructionIndex: 0, innerIndex: 1 },
      { ...proven?.event, instructionIndex: 3, innerIndex: 0 },
      { ...settled?.event, instructionIndex: 3, innerIndex: 2 },
    ]);
  });

  it('are decoded from the JSON of any version, with keys of lookup tables', () => {
    const { bytes, event } = encode('JobClosed');
    const json: ExecutedTransaction = {
      transaction: { message: { accountKeys: [stranger.toBase58(), PROGRAM_ID.toBase58()] } },
      meta: {
        err: null,
        innerInstructions: [{ index: 0, instructions: [call(bytes, { accounts: [3] })] }],
        loadedAddresses: { writable: [stranger.toBase58()], readonly: [eventAuthority.toBase58()] },
      },
    };
    expect(decodeEvents(json)).toEqual([{ ...event, instructionIndex: 0, innerIndex: 0 }]);
  });

  it('are not decoded from a failed transaction', () => {
    const { bytes } = encode('CreditBought');
    const inner = [{ index: 0, instructions: [call(bytes)] }];
    expect(decodeEvents(transaction(inner))).toHaveLength(1);
    expect(decodeEvents(transaction(inner, { InstructionError: [1, { Custom: 6019 }] }))).toEqual(
      [],
    );
  });

  it('are decoded only from the program’s calls to itself', () => {
    const { bytes } = encode('CreditBought');
    const forged = [
      call(bytes, { programIdIndex: PAYER }),
      call(bytes, { accounts: [PAYER] }),
      call(bytes, { accounts: [AUTHORITY, PAYER] }),
      call(bytes, { accounts: [] }),
      call(bytes.subarray(TAG.length)),
      call(Buffer.from([])),
    ];
    expect(decodeEvents(transaction([{ index: 0, instructions: forged }]))).toEqual([]);
    const elsewhere = new PublicKey(random.bytes(32));
    const inner = [{ index: 0, instructions: [call(bytes)] }];
    expect(decodeEvents(transaction(inner), elsewhere)).toEqual([]);
  });

  it('make the reader throw when their kind is unknown or unreadable', () => {
    const unknown = Buffer.concat([TAG, random.bytes(40)]);
    const { bytes } = encode('CreditBought');
    expect(() => decodeEventData(unknown)).toThrow('does not know');
    expect(() => decodeEventData(bytes.subarray(TAG.length))).toThrow('does not know');
    expect(() => decodeEventData(bytes.subarray(0, -1))).toThrow('cannot read');
    expect(() => decodeEventData(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow('cannot read');
    const inner = [{ index: 0, instructions: [call(unknown)] }];
    expect(() => decodeEvents(transaction(inner))).toThrow('does not know');
    expect(() => decodeEvents({ ...transaction([]), meta: null })).toThrow('no metadata');
  });
});

function bytesOf(encoded: { bytes: Buffer } | undefined): Buffer {
  return encoded?.bytes ?? Buffer.alloc(0);
}

/** A token transfer, as a settlement makes. */
function transfer(): Call {
  return { programIdIndex: PAYER, accounts: [0, 1, 2], data: base58.encode(random.bytes(9)) };
}
