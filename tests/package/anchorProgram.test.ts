import anchor from '@coral-xyz/anchor';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { camelCase, type Value } from '../../programs/client/codec.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import {
  createAddresses,
  decodeEvents,
  type Escrow,
  fetchCreditAccount,
  PROGRAM_ID,
} from '../../programs/client/index.ts';
import * as builders from '../../programs/client/instructions.ts';
import type { Field } from '../../programs/client/interface.ts';
import { fromCoder, toCoder } from '../../testing/ledger/anchorCoder.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { randomValue } from '../client/randomValue.ts';

const random = createRandom();
const addresses = createAddresses();
const build = builders as unknown as Record<string, (input: object) => TransactionInstruction>;

let ledger: TestLedger;
let service: Service;
let program: anchor.Program<Escrow>;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  service = await openService(ledger);
  const provider = new anchor.AnchorProvider(ledger.connection, new anchor.Wallet(ledger.payer));
  program = new anchor.Program<Escrow>(idl as unknown as Escrow, provider);
});
afterAll(() => ledger.close());

describe(`Anchor's Program on the committed IDL (seed ${random.seed})`, () => {
  it.each(idl.instructions)('builds $name as our builder does', async (instruction) => {
    const { name, accounts, args } = instruction as Interface;
    const key = () => new PublicKey(random.bytes(32));
    const values = args.map(({ type }) => randomValue(type, random) as Value);
    const ours = build[camelCase(name)]?.({
      ...Object.fromEntries(['wallet', 'operator', 'authority'].map((field) => [field, key()])),
      modelId: 'some-model',
      ...Object.fromEntries(
        accounts
          .filter(({ address, pda }) => !address && !pda)
          .map((account) => [camelCase(account.name), key()]),
      ),
      ...Object.fromEntries(args.map((arg, index) => [camelCase(arg.name), values[index]])),
    }) as TransactionInstruction;
    const methods = program.methods as unknown as Record<string, Method>;
    const theirs = await methods[camelCase(name)]?.(
      ...values.map((value, index) => toMethod(value, args[index]?.type)),
    )
      .accountsStrict(
        Object.fromEntries(
          accounts.map((account, index) => [camelCase(account.name), ours.keys[index]?.pubkey]),
        ) as never,
      )
      .instruction();
    expect(theirs?.programId).toEqual(ours.programId);
    expect(theirs?.data).toEqual(ours.data);
    expect(theirs?.keys).toEqual(
      ours.keys.map((meta, index) => ({
        ...meta,
        // Naming a spender takes the wallet's signature, which an IDL cannot express.
        isSigner: accounts[index]?.signer ?? false,
      })),
    );
  });

  it('fetches an account as our client does', async () => {
    const { creditAccount } = service;
    const theirs = await program.account.creditAccount.fetch(creditAccount);
    expect(fromCoder(theirs as never)).toEqual(
      await fetchCreditAccount(ledger.connection, creditAccount),
    );
  });

  it('spells a status by its name', async () => {
    const job = await program.account.worker.fetch(service.worker);
    const isActive: boolean = 'active' in job.status;
    expect([isActive, job.status]).toEqual([true, { active: {} }]);
  });

  it('sends a transaction whose event only decodeEvents can read', async () => {
    const { wallet, creditAccount } = service;
    const signature = await program.methods
      .limitSet(new anchor.BN(40), new anchor.BN(400))
      .accountsStrict({
        wallet: wallet.publicKey,
        creditAccount,
        eventAuthority: addresses.eventAuthority,
        program: PROGRAM_ID,
      })
      .signers([wallet])
      .rpc({ commitment: 'confirmed' });
    expect(await fetchCreditAccount(ledger.connection, creditAccount)).toMatchObject({
      limitPerJobCredits: 40n,
      limitPerDayCredits: 400n,
    });
    const executed = await ledger.connection.getTransaction(signature as string, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    if (executed === null) throw new Error('the ledger lost a transaction');
    const parser = new anchor.EventParser(PROGRAM_ID, program.coder);
    expect([...parser.parseLogs(executed.meta?.logMessages ?? [])]).toEqual([]);
    expect(decodeEvents(executed)).toMatchObject([
      { name: 'LimitSet', data: { limitPerJobCredits: 40n, limitPerDayCredits: 400n } },
    ]);
  });
});

/** As `Program` takes an argument: it spells an enumeration's variants like its other names. */
function toMethod(value: Value, type?: Field['type']): unknown {
  const isWord = typeof type === 'object' && 'defined' in type;
  return isWord ? { [camelCase(value as string)]: {} } : toCoder(value);
}

type Method = (...args: unknown[]) => ReturnType<typeof program.methods.limitSet>;

interface Interface {
  name: string;
  accounts: { name: string; signer?: boolean; address?: string; pda?: object }[];
  args: Field[];
}
