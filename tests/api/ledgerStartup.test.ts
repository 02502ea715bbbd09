import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { pino } from 'pino';
import { type LedgerContext, openLedger, reachLedger } from '../../api/ledger/context.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { createRpc } from '../../programs/client/rpc/rpc.ts';

const WAITING = 'Waiting for the time of the node at SOLANA_RPC_URL';

describe('an API that starts while its node is unavailable', () => {
  let isAway: boolean;
  let log: string[];
  let ledger: { context: LedgerContext; close(): void };

  beforeEach(() => {
    jest.useFakeTimers();
    isAway = true;
    log = [];
    const lines = new Writable({
      write(line, _encoding, done) {
        log.push(JSON.parse(String(line)).msg);
        done();
      },
    });
    const data = [Buffer.alloc(40).toString('base64'), 'base64'];
    const clock = { lamports: 1, owner: 'Sysvar', executable: false, data };
    const rpc = createRpc({
      async post() {
        if (isAway) throw new Error('connect ECONNREFUSED');
        const result = { context: { slot: 1 }, value: clock };
        return { status: 200, text: JSON.stringify({ result }) };
      },
    });
    const connection = {
      getMultipleAccountsInfoAndContext: async (keys: unknown[]) => ({
        value: [{ data: Buffer.alloc(17) }, ...keys.slice(1).map(() => null)],
      }),
    };
    const sender = { close: () => undefined };
    ledger = openLedger({
      config: {
        SVC_GATEWAY: Keypair.generate().publicKey,
        SVC_SIGNER_KEY: Keypair.generate(),
        SVC_FEE_PAYER_KEYS: [Keypair.generate()],
      },
      ...{ connection, rpc, commitment: 'confirmed' },
      addresses: createAddresses(),
      logger: pino(lines),
      createSender: () => sender,
    } as unknown as Parameters<typeof openLedger>[0]);
  });

  afterEach(() => {
    ledger.close();
    jest.useRealTimers();
  });

  it('logs every 5 s what it waits for, then each part that the ledger lacks', async () => {
    const reaching = reachLedger(ledger.context);
    await jest.advanceTimersByTimeAsync(11_000);
    expect(log).toEqual([WAITING, WAITING]);

    isAway = false;
    await jest.advanceTimersByTimeAsync(11_000);
    expect((await reaching)?.map(({ part }) => part)).toEqual(['program', 'gateway', 'fee_payers']);
    expect(log).toEqual([
      WAITING,
      WAITING,
      expect.stringMatching(/^SVC_PROGRAM_ID .* is no program on this ledger$/),
      expect.stringMatching(/^SVC_GATEWAY .* is no Gateway of the program/),
      expect.stringContaining('SVC_FEE_PAYER_KEYS'),
    ]);
  });

  it('logs nothing more once it is stopped', async () => {
    const reaching = reachLedger(ledger.context);
    ledger.close();
    expect(await reaching).toBeUndefined();
    await jest.advanceTimersByTimeAsync(11_000);
    expect(log).toEqual([]);
  });
});
