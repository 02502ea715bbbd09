import { describe, expect, it } from '@jest/globals';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import * as builders from '../../programs/client/instructions.ts';
import { camelCase, type Field } from '../../programs/client/interface.ts';
import { coder, fromCoder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomValue } from './randomValue.ts';

interface Seed {
  kind: string;
  value?: number[];
  path?: string;
}
interface IdlAccount {
  name: string;
  signer?: boolean;
  writable?: boolean;
  optional?: boolean;
  address?: string;
  pda?: { seeds: Seed[] };
}
interface IdlInstruction {
  name: string;
  accounts: IdlAccount[];
  args: Field[];
}

const random = createRandom();
const instructions = idl.instructions as IdlInstruction[];
const build = builders as unknown as Record<string, (input: object) => TransactionInstruction>;

describe(`instruction builders (seed ${random.seed})`, () => {
  it('exist once for each instruction, and for verdicts', () => {
    expect(Object.keys(build).toSorted()).toEqual(
      [
        'evidenceArguments',
        'verdictInstruction',
        ...instructions.map(({ name }) => camelCase(name)),
      ].toSorted(),
    );
  });

  for (const instruction of instructions) {
    it(`build ${instruction.name} with the IDL's accounts, flags, addresses and arguments`, () => {
      const input = randomInput(instruction);
      const { programId, keys, data } = buildFrom(instruction, input);
      expect(programId).toEqual(PROGRAM_ID);
      const decoded = coder.instruction.decode(data);
      expect(decoded?.name).toBe(instruction.name);
      expect(fromCoder(decoded?.data as Record<string, unknown>)).toEqual(
        Object.fromEntries(
          instruction.args.map(({ name }) => [camelCase(name), input[camelCase(name)]]),
        ),
      );
      expect(keys.map(({ isSigner, isWritable }) => ({ isSigner, isWritable }))).toEqual(
        instruction.accounts.map(({ name, signer = false, writable = false }) => ({
          // Naming a spender takes the wallet's signature, which the IDL cannot express.
          isSigner: signer || (instruction.name === 'credit_open' && name === 'wallet'),
          isWritable: writable,
        })),
      );
      const placed = new Map(
        instruction.accounts.map(({ name }, index) => [name, keys[index]?.pubkey as PublicKey]),
      );
      for (const account of instruction.accounts) {
        expect(permittedAddresses(account, placed, input)).toContainEqual(placed.get(account.name));
      }
    });
  }

  it("refuse a value out of range with the argument's name", () => {
    const wrong: Record<string, unknown[]> = {
      u8: [-1, 256, 1.5, Number.NaN, 1n, '1'],
      u16: [-1, 65_536, 0.5],
      u32: [-1, 2 ** 32, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1n],
      u64: [-1n, 2n ** 64n, 1],
      i64: [-(2n ** 63n) - 1n, 2n ** 63n, 0],
      bool: [0, 'false'],
      string: [1],
      pubkey: ['11111111111111111111111111111111', 1],
      array: [new Uint8Array(15), new Uint8Array(33), 'ab'],
      defined: ['no such word', 1],
      vec: [new PublicKey(random.bytes(32)), ['11111111111111111111111111111111']],
    };
    for (const instruction of instructions) {
      const input = randomInput(instruction);
      for (const { name, type } of instruction.args) {
        // Addresses are made of these before anything else is looked at.
        if (name === 'id' || name === 'job_id') continue;
        const kind = typeof type === 'string' ? type : (Object.keys(type)[0] as string);
        for (const value of wrong[kind] ?? [undefined]) {
          expect(() => buildFrom(instruction, { ...input, [camelCase(name)]: value })).toThrow(
            `${instruction.name}: ${camelCase(name)} takes`,
          );
        }
      }
    }
  });
});

describe('addresses', () => {
  it('all follow from their seeds with the canonical bump', () => {
    const addresses = createAddresses();
    const key = new PublicKey(random.bytes(32));
    const jobId = random.bytes(16);
    const derive = (...seeds: (string | Uint8Array)[]) =>
      PublicKey.findProgramAddressSync(
        seeds.map((seed) => Buffer.from(seed)),
        PROGRAM_ID,
      )[0];
    expect(addresses.gateway(key)).toEqual(derive('gateway', key.toBytes()));
    expect(addresses.creditAccount(key)).toEqual(derive('credit', key.toBytes()));
    expect(addresses.worker(key)).toEqual(derive('worker', key.toBytes()));
    expect(addresses.job(key, jobId)).toEqual(derive('job', key.toBytes(), jobId));
    // sha256('abc')
    const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(addresses.model('abc')).toEqual(derive('model', Buffer.from(hash, 'hex')));
  });
});

/** A value for every account and argument of an instruction, and what addresses are derived from. */
function randomInput({ accounts, args }: IdlInstruction): Record<string, unknown> {
  // What has only one address is not the caller's to give.
  const keys = accounts
    .filter(({ address, pda }) => !address && !pda)
    .map(({ name }) => camelCase(name));
  const derivedFrom = ['wallet', 'operator', 'authority'];
  return {
    modelId: 'some-model',
    ...Object.fromEntries(
      [...derivedFrom, ...keys].map((name) => [name, new PublicKey(random.bytes(32))]),
    ),
    ...Object.fromEntries(
      args.map(({ name, type }) => [camelCase(name), randomValue(type, random)]),
    ),
  };
}

/** The address that the IDL states, else what the caller gave or what follows from it. */
function permittedAddresses(
  { name, address, pda }: IdlAccount,
  placed: Map<string, PublicKey>,
  input: Record<string, unknown>,
): unknown[] {
  if (address !== undefined) return [new PublicKey(address)];
  if (pda !== undefined) {
    const seeds = pda.seeds.map(({ kind, value, path = '' }) => {
      if (kind === 'const') return Uint8Array.from(value as number[]);
      if (kind === 'account') return (placed.get(path) as PublicKey).toBytes();
      return input[camelCase(path)] as Uint8Array;
    });
    return [PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)[0]];
  }
  const addresses = createAddresses();
  const { operator, wallet, authority, id, modelId } = input;
  const derived: Record<string, PublicKey> = {
    gateway: addresses.gateway(operator as PublicKey),
    creditAccount: addresses.creditAccount(wallet as PublicKey),
    worker: addresses.worker(authority as PublicKey),
    model: addresses.model((id ?? modelId) as string),
    payout: addresses.treasuryVault,
  };
  return [input[camelCase(name)], derived[camelCase(name)]];
}

function buildFrom({ name }: IdlInstruction, input: object): TransactionInstruction {
  const builder = build[camelCase(name)];
  if (builder === undefined) throw new Error(`No builder for ${name}`);
  return builder(input);
}
