import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inTransaction } from '../../../common/postgres.ts';
import type { LedgerEvent, LedgerTransaction } from '../../../indexer/fold/event.ts';
import { revertTransaction } from '../../../indexer/mirror/revert.ts';
import { clearMirror } from '../../../indexer/sql/digest.ts';
import {
  createWebhookOutbox,
  movePosition,
  resumeOutbox,
} from '../../../indexer/webhooks/announce/webhookOutbox.ts';
import { createAddresses } from '../../../programs/client/addresses.ts';
import { bought, withdrawn } from '../../../testing/indexer/creditEvents.ts';
import { ownWebhookScene } from '../../../testing/indexer/own.ts';
import {
  emptyState,
  opening as firstInstructions,
} from '../../../testing/indexer/program/programState.ts';
import { WALLET } from '../../../testing/indexer/webhookScene.ts';

const OTHER_WALLET = 'Hn6vvWXBYmWgGrHwS1bjPMV6TxTUuuKpbw1CwJMB3Dvo';
const URL = 'https://example.com/hook';
const addresses = createAddresses();

const scene = await ownWebhookScene();

afterEach(() => clearMirror(scene.pool));

async function queued(): Promise<{ webhook: string; event: string; status: string }[]> {
  const deliveries = await scene.deliveries();
  return deliveries.map(({ webhook_id, event, status }) => ({
    webhook: webhook_id,
    event,
    status,
  }));
}

async function countQueued(): Promise<bigint> {
  const { rows } = await scene.pool.query(
    `select count(*) from service.webhook_deliveries where status = 'pending' and due_at <= now()`,
  );
  return rows[0]?.count;
}

/** An account's opening and its first purchase, as the ledger emits them. */
function opening(slot: bigint): LedgerTransaction {
  const purchase = bought({ credits: 500, available: 500, slot });
  const { signature } = purchase;
  const opened: LedgerEvent = {
    ...{ signature, slot, instructionIndex: 0, innerIndex: 0 },
    name: 'CreditOpened',
    data: {
      ...{ slot: slot.toString(), unixTime: '1790000000', wallet: WALLET },
      ...{ creditAccount: `account of ${WALLET}`, creditSequence: '1' },
      spender: '11111111111111111111111111111111',
      ...{ limitPerJobCredits: '0', limitPerDayCredits: '0' },
    },
  };
  return { signature, slot, events: [opened, purchase] };
}

/** A withdrawal, one that follows upon `opening` by default. */
function withdrawal(slot: bigint, available: number, sequence = 3, locked = 0): LedgerTransaction {
  const event = withdrawn({ credits: 500 - available, available, locked, slot });
  const data = { ...event.data, creditSequence: `${sequence}` } as never;
  return { signature: event.signature, slot, events: [{ ...event, data } as LedgerEvent] };
}

/** The program's first transaction: the treasury, which repays disputes, begins with it. */
function founding(): LedgerTransaction {
  const place = { signature: 'founding', slot: 9n, instructionIndex: 0, innerIndex: 0 };
  const [initialize] = firstInstructions;
  const event = initialize?.(emptyState(), { slot: '9', unixTime: '1790000000' });
  return { ...place, events: [{ ...place, ...event } as LedgerEvent] };
}

/** A dispute that was upheld is repaid: the account's fourth change by default. */
function repayment(slot: bigint, available: number, sequence = 4): LedgerTransaction {
  const place = { signature: `repayment in ${slot}`, slot, instructionIndex: 0, innerIndex: 0 };
  const data = {
    ...{ slot: `${slot}`, unixTime: '1790000000', claimant: `account of ${WALLET}` },
    ...{ claimantKind: 'credit_account' as const },
    ...{ claimantSequence: `${sequence}`, treasurySequence: '2' },
    ...{ baseUnits: '400000', credits: '40', remainingBaseUnits: '0' },
    ...{ owedBaseUnits: '0', unpaidBaseUnits: '0', availableCredits: `${available}` },
  };
  return { ...place, events: [{ ...place, name: 'ClaimPaid', data }] };
}

describe('an event is announced to', () => {
  it('the webhooks of its wallet that subscribe to its kind [events.subscribed-kinds]', async () => {
    const mine = await scene.addWebhook({ url: URL });
    await scene.addWebhook({ url: URL, wallet: OTHER_WALLET });
    await scene.addWebhook({ url: URL, events: ['job.completed', 'worker.slashed'] });
    await scene.announce([bought({ credits: 5, available: 5 })]);
    expect(await queued()).toEqual([{ webhook: mine, event: 'credit.topup', status: 'pending' }]);
  });

  it.each(['failed', 'disabled'])('its webhook later, when the webhook is %s', async (status) => {
    await scene.addWebhook({ url: URL, status });
    await scene.announce([bought({ credits: 5, available: 5 })]);
    expect(await queued()).toMatchObject([{ status: 'undelivered' }]);
    expect(await countQueued()).toBe(0n);
  });
});

describe('announcing', () => {
  it('happens once, however often the transaction is read [events.kinds]', async () => {
    await scene.addWebhook({ url: URL });
    const event = bought({ credits: 5, available: 5 });
    await scene.announce([event]);
    await scene.announce([event]);
    await scene.announce([{ ...event, slot: event.slot + 3n }]);
    expect(await queued()).toHaveLength(1);
    expect(await countQueued()).toBe(1n);
  });
});

describe('announcing resumes', () => {
  async function resume(sweptSlot: bigint, awaitsFinality = false) {
    const client = await scene.pool.connect();
    try {
      return await resumeOutbox({
        ...{ database: client, sweptSlot },
        outboxSettings: { awaitsFinality },
        ledgerSlot: async () => 1_000n,
      });
    } finally {
      client.release();
    }
  }

  async function announcedSlots(sweptSlot: bigint, slots: readonly bigint[]): Promise<bigint[]> {
    const outbox = await resume(sweptSlot);
    for (const slot of slots) {
      await scene.announce([bought({ credits: 5, available: 5, slot })], outbox);
    }
    const { rows } = await scene.pool.query('select slot from service.webhook_deliveries');
    return rows.map(({ slot }) => slot);
  }

  beforeEach(() => scene.addWebhook({ url: URL }));

  it('at the present on a new installation', async () => {
    expect(await announcedSlots(0n, [1n, 1_000n, 1_001n])).toEqual([1_001n]);
  });

  it('where it stopped, and includes what nodes list late', async () => {
    await resume(0n);
    await movePosition(scene.pool, 2_000n);
    expect(await announcedSlots(2_000n, [1_000n, 1_990n, 2_001n])).toEqual([1_990n, 2_001n]);
  });

  it('after what was announced, when the mirror was emptied', async () => {
    await resume(0n);
    await movePosition(scene.pool, 2_000n);
    expect(await announcedSlots(0n, [1n, 2_000n, 2_001n])).toEqual([2_001n]);
    // Also when the process dies in the middle of making the mirror again.
    expect(await announcedSlots(1_500n, [1_501n, 2_002n])).toEqual([2_001n, 2_002n]);
  });

  it('with what became final while another process rebuilt the mirror', async () => {
    const final = opening(1_001n);
    const outbox = await resume(0n, true);
    await scene.applyAndAnnounce([final], outbox);
    await scene.announce([bought({ credits: 10, available: 510, slot: 1_002n })], outbox);
    await scene.pool.query(
      `update mirror.transactions set commitment = 'finalized' where signature = $1`,
      [final.signature],
    );
    expect(await countQueued()).toBe(0n);

    await resume(1_003n, true);

    expect(await countQueued()).toBe(1n);
    const dueAt = (await scene.deliveries()).map(({ due_at }) => due_at);
    expect(dueAt).toEqual([expect.any(Date), Number.POSITIVE_INFINITY]);
  });
});

describe('a transaction that is rolled back', () => {
  it('is not announced again when it lands after all', async () => {
    await scene.addWebhook({ url: URL });
    const lost = opening(10n);
    await scene.applyAndAnnounce([lost]);
    const [sent] = await scene.deliveries();
    await scene.pool.query('update service.webhook_deliveries set attempts = 1');
    await inTransaction(scene.pool, (client) =>
      revertTransaction(client, lost.signature, addresses, scene.outbox),
    );
    const events = lost.events.map((event) => ({ ...event, slot: 12n }));
    await scene.applyAndAnnounce([{ ...lost, slot: 12n, events }]);
    // The very row, with the attempt that was made.
    expect(await scene.deliveries()).toEqual([{ ...sent, attempts: 1 }]);
  });
});

describe('with webhooks that wait for finality', () => {
  const careful = () => createWebhookOutbox({ awaitsFinality: true }, 0n);

  it('an event is queued only when its transaction is final [events.finality]', async () => {
    await scene.addWebhook({ url: URL });
    const landed = opening(10n);
    await scene.applyAndAnnounce([landed], careful());
    expect(await queued()).toMatchObject([{ status: 'pending' }]);
    expect(await countQueued()).toBe(0n);
    await inTransaction(scene.pool, (client) => careful().markFinal(client, [landed.signature]));
    expect(await countQueued()).toBe(1n);
    await inTransaction(scene.pool, (client) => careful().markFinal(client, [landed.signature]));
    expect(await countQueued()).toBe(1n);
  });

  it('an event that is folded late from a final transaction is queued at once', async () => {
    await scene.addWebhook({ url: URL });
    const late = opening(10n);
    await scene.pool.query(
      `insert into mirror.transactions (signature, slot, commitment) values ($1, 10, 'finalized')`,
      [late.signature],
    );
    await scene.announce(late.events, careful());
    expect(await countQueued()).toBe(1n);
  });
});

describe('credit.low', () => {
  const spend = (available: number, locked = 0) =>
    scene.announce([withdrawn({ credits: 1, available, locked })]);

  async function alerts(): Promise<number[]> {
    const deliveries = await scene.deliveries();
    return deliveries
      .filter(({ event }) => event === 'credit.low')
      .map(({ body }) => JSON.parse(body).data.credits_remaining);
  }

  beforeEach(async () => {
    await scene.addWebhook({ url: URL, events: ['credit.low'] });
  });

  it('fires when the balance falls below 100, and again after it was above [events.credit-low]', async () => {
    await spend(100);
    expect(await alerts()).toEqual([]);
    await spend(99);
    await spend(98);
    expect(await alerts()).toEqual([99]);
    await scene.announce([bought({ credits: 1, available: 99 })]);
    await spend(97);
    expect(await alerts()).toEqual([99]);
    await scene.announce([bought({ credits: 3, available: 100 })]);
    await spend(96);
    expect(await alerts()).toEqual([99, 96]);
  });

  it('counts locked credits, which may come back', async () => {
    await spend(60, 40);
    expect(await alerts()).toEqual([]);
    await spend(60, 39);
    expect(await alerts()).toEqual([60]);
  });

  it('counts credits that were locked when a dispute was repaid', async () => {
    await scene.applyAndAnnounce([founding(), opening(10n), withdrawal(11n, 50, 3, 40)]);
    await scene.applyAndAnnounce([repayment(12n, 60), withdrawal(13n, 59, 5, 40)]);
    expect(await alerts()).toEqual([50, 59]);
  });

  it('does not count credits that the same transaction locked only later', async () => {
    const low = withdrawal(11n, 50, 3, 40);
    const repaid = repayment(12n, 59);
    const { signature } = repaid;
    const later = withdrawal(12n, 11, 5, 48).events.map((event) => ({
      ...{ ...event, signature, instructionIndex: 1 },
    }));
    const together = { ...repaid, events: [...repaid.events, ...later] };
    await scene.applyAndAnnounce([founding(), opening(10n), low, together]);
    expect(await alerts()).toEqual([50]);
  });

  it("follows the wallet's own threshold, also when raised above the balance [events.credit-low]", async () => {
    await spend(150);
    await scene.pool.query('update service.credit_alerts set threshold_credits = 200');
    await spend(149);
    await spend(148);
    expect(await alerts()).toEqual([149]);
  });
});
