import { describe, expect, it } from '@jest/globals';
import type { QueryResult } from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { revertTransaction } from '../../indexer/mirror/revert.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { createWebhookOutbox } from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { ownMirror } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';

/** Several pages, and a part of one. */
const CHANGES = 2_500;
const ROWS_AT_ONCE = 1_000;
const ACCOUNT = { creditAccount: 'an account', wallet: 'a wallet' };

const mirror = await ownMirror();

/** @param sequence the account's after the first of the events */
function transaction(
  slot: bigint,
  sequence: number,
  changes: readonly { name: LedgerEvent['name']; data: object }[],
): LedgerTransaction {
  const signature = `transaction in ${slot}`;
  const events = changes.map(
    ({ name, data }, index) =>
      ({
        ...{ signature, slot, instructionIndex: index, innerIndex: 0, name },
        data: {
          ...{ ...ACCOUNT, slot: `${slot}`, unixTime: `${slot}` },
          ...{ creditSequence: `${sequence + index}`, ...data },
        },
      }) as LedgerEvent,
  );
  return { signature, slot, events };
}

const UNSET = { limitPerJobCredits: '0', limitPerDayCredits: '0' };
const spenderSet = (spender: string) => ({
  name: 'SpenderSet' as const,
  data: { spender, ...UNSET },
});
const limitSet = (credits: number) => ({
  name: 'LimitSet' as const,
  data: { limitPerJobCredits: `${credits}`, limitPerDayCredits: `${2 * credits}` },
});

/** A connection that knows how many rows its largest answer had. */
function measured(database: Database): Database & { rowsMax: number } {
  const measuring = {
    rowsMax: 0,
    async query(...question: Parameters<Database['query']>) {
      const answer = (await database.query(...question)) as unknown as QueryResult;
      measuring.rowsMax = Math.max(measuring.rowsMax, answer.rows.length);
      return answer;
    },
  };
  return measuring as unknown as Database & { rowsMax: number };
}

describe('rolling back a transaction', () => {
  it("reads an account's history in bounded parts, however long it is", async () => {
    const limits = Array.from({ length: CHANGES }, (_value, index) => limitSet(index));
    const opened = {
      name: 'CreditOpened' as const,
      data: { spender: 'unknown', ...UNSET },
    };
    await mirror.apply([
      transaction(1n, 1, [opened, spenderSet('at first')]),
      transaction(2n, 3, limits),
    ]);
    await mirror.pool.query('insert into service.credit_alerts (wallet) values ($1)', [
      ACCOUNT.wallet,
    ]);
    const digest = await digestTables(mirror.pool);
    const lost = transaction(3n, CHANGES + 3, [spenderSet('at last')]);
    await mirror.apply([lost]);
    expect(await digestTables(mirror.pool)).not.toEqual(digest);

    const outbox = createWebhookOutbox({ awaitsFinality: false }, 0n);
    const rowsMax = await inTransaction(mirror.pool, async (client) => {
      const database = measured(client);
      await revertTransaction(database, lost.signature, addresses, outbox);
      return database.rowsMax;
    });

    expect(await digestTables(mirror.pool)).toEqual(digest);
    expect(rowsMax).toBe(ROWS_AT_ONCE);
  });
});
