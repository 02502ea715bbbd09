import { describe, expect, it } from '@jest/globals';
import {
  ACCOUNT_VERSION,
  decodeAccount,
  fetchAllJobs,
  fetchJob,
} from '../../programs/client/accounts.ts';
import type { Value } from '../../programs/client/codec.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import { PROGRAM_ID } from '../../programs/client/index.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomStruct } from './randomValue.ts';

const random = createRandom();

async function encode(name: string, version: number = ACCOUNT_VERSION) {
  const { data, forCoder } = randomStruct(name, random);
  const bytes = await coder.accounts.encode(name, { ...forCoder, version });
  return { bytes, data: { ...data, version } as Record<string, Value> };
}

describe(`accounts (seed ${random.seed})`, () => {
  it.each(idl.accounts.map(({ name }) => name))(
    '%s is read in its own layout alone',
    async (name) => {
      const { bytes, data } = await encode(name);
      expect(decodeAccount(bytes)).toEqual({ name, data });
      const { bytes: later } = await encode(name, ACCOUNT_VERSION + 1);
      for (const wrong of [later, bytes.subarray(0, -1)]) {
        expect(() => decodeAccount(wrong)).toThrow(`version ${ACCOUNT_VERSION} of ${name}`);
      }
    },
  );

  it('are distinguished from other bytes', () => {
    expect(() => decodeAccount(random.bytes(300))).toThrow('Not an account');
    expect(() => decodeAccount(new Uint8Array())).toThrow('Not an account');
  });
});

describe('a ledger that is read without web3.js', () => {
  /** What a node without any account is asked. */
  async function askedBy(read: (node: LedgerNode) => Promise<unknown>): Promise<unknown[]> {
    const asked: unknown[] = [];
    await read({
      async ask(method, parameters, form) {
        asked.push(parameters.at(-1));
        return form({ context: { slot: 1 }, value: method === 'getProgramAccounts' ? [] : null });
      },
    });
    return asked;
  }

  it.each([
    ['confirmed', undefined, {}],
    ['finalized', 'finalized', {}],
    ['processed', 'finalized', { commitment: 'processed' }],
  ] as const)(
    'answers as of %s where %s is its own, and asked for %j',
    async (as, own, options) => {
      const asked = await askedBy(async (node) => {
        await fetchJob(connectLedger(node, own), PROGRAM_ID, options);
        await fetchAllJobs(connectLedger(node, own), options);
      });
      expect(asked).toMatchObject([{ commitment: as }, { commitment: as, withContext: true }]);
    },
  );
});
