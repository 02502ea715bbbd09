import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { connectLedger } from '../../api/ledger/connectLedger.ts';
import { createAddresses } from '../../programs/client/addresses.ts';

describe('an API that starts while its node is away', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('says every five seconds what it waits for, and nothing once it goes on', async () => {
    const log: string[] = [];
    const lines = new Writable({
      write(line, _encoding, done) {
        log.push(String(line));
        done();
      },
    });
    let isAway = true;
    const clock = { data: Buffer.alloc(40) };
    const connection = {
      async getAccountInfoAndContext() {
        if (isAway) throw new Error('connect ECONNREFUSED');
        return { context: { slot: 1 }, value: clock };
      },
    };
    const sender = { close: () => undefined };
    const connecting = connectLedger({
      config: { SVC_COMMITMENT: 'confirmed' },
      connection,
      addresses: createAddresses(),
      logger: pino(lines),
      createSender: () => sender,
    } as unknown as Parameters<typeof connectLedger>[0]);
    await jest.advanceTimersByTimeAsync(11_000);
    const said = log.map((line) => JSON.parse(line).msg);
    expect(said).toEqual(Array(2).fill('Waiting for the node at SOLANA_RPC_URL to tell the time'));

    isAway = false;
    await jest.advanceTimersByTimeAsync(11_000);
    const ledger = await connecting;
    expect(log).toHaveLength(2);
    ledger.close();
  });
});
