import anchor from '@coral-xyz/anchor';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import {
  createAddresses,
  decodeEvents,
  type Escrow,
  fetchCreditAccount,
  PROGRAM_ID,
} from '../../programs/client/index.ts';
import { fromCoder } from '../../testing/ledger/anchorCoder.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';

const addresses = createAddresses();

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

describe("Anchor's Program on the committed IDL", () => {
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
