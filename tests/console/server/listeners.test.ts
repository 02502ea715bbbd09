import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { deleteOldSessions } from '../../../indexer/background/expiredRows.ts';
import type { LedgerEvent } from '../../../indexer/fold/event.ts';
import { createWebhookOutbox } from '../../../indexer/webhooks/announce/webhookOutbox.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { insertAccount } from '../../api/keyedDatabase.ts';
import { type ConsoleScene, openConsoleScene, PUBLIC_URL, signIn } from './consoleScene.ts';

let webhooks: WebhookScene;
let scene: ConsoleScene;
const awaitingFinality = createWebhookOutbox({ awaitsFinality: true }, 0n);
const leaving: (() => void)[] = [];

beforeAll(async () => {
  webhooks = await createWebhookScene();
  scene = await openConsoleScene({ on: webhooks });
  await insertAccount(scene.pool, { wallet: scene.wallet.publicKey.toBase58() });
  const stranger = scene.stranger.publicKey.toBase58();
  await insertAccount(scene.pool, { wallet: stranger, address: 'of a stranger' });
});

afterAll(() => scene.close());

afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  await scene.pool.query('delete from service.webhook_listeners');
  await scene.pool.query('delete from service.webhooks');
});

interface Sent {
  id: string;
  event: string;
  data: string;
}

/** Opens the stream of a listener. @param after the id of the last event that the client has */
async function listen({ cookie = scene.cookie, after }: { cookie?: string; after?: string } = {}) {
  const left = new AbortController();
  const leave = () => left.abort();
  leaving.push(leave);
  const response = await fetch(`${scene.url}/console/api/webhooks/listen`, {
    method: 'POST',
    headers: {
      ...{ origin: PUBLIC_URL, 'content-type': 'application/json', cookie },
      ...(after !== undefined && { 'last-event-id': after }),
    },
    signal: left.signal,
  });
  expect(response.status).toBe(200);
  const sent: Sent[] = [];
  async function read(): Promise<void> {
    const messages = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const { id = '', event = '', data } of messages ?? []) {
      sent.push({ id, event, data });
    }
  }
  const ended = read().catch((error: Error) => expect(error.name).toBe('AbortError'));
  await until(() => sent.length > 0);
  const events = () => sent.slice(1);
  return {
    leave,
    ended,
    isResumed: () => JSON.parse(sent[0]?.data ?? '').resumed,
    events,
    untilSent: (count: number) => until(() => events().length >= count),
    /** What the wallet has after each of the purchases that were sent. */
    balances: () => events().map(({ data }) => JSON.parse(data).data.credits_remaining),
  };
}

const purchase = (available: number, owner = scene.wallet) =>
  bought({ credits: 1, available, wallet: owner.publicKey.toBase58() });

/** Announces an event whose transaction the mirror has. */
async function announce(event: LedgerEvent, as = webhooks.outbox): Promise<void> {
  await scene.pool.query('insert into mirror.transactions (signature, slot) values ($1, $2)', [
    event.signature,
    event.slot,
  ]);
  await webhooks.announce([event], as);
}

const countListeners = async (): Promise<number> => {
  const { rows } = await scene.pool.query(
    'select count(*)::integer as count from service.webhook_listeners',
  );
  return rows[0]?.count;
};

describe('a listener', () => {
  it("gets its wallet's events as a webhook does, and no other wallet’s", async () => {
    await webhooks.addWebhook({
      url: 'https://example.com/hook',
      wallet: scene.wallet.publicKey.toBase58(),
    });
    const own = await listen();
    const foreign = await listen({ cookie: scene.strangerCookie });

    await announce(purchase(7));
    await announce(purchase(8, scene.stranger));

    await Promise.all([own.untilSent(1), foreign.untilSent(1)]);
    const [delivery] = await webhooks.deliveries();
    expect(own.events()).toEqual([{ id: '1', event: 'event', data: delivery?.body }]);
    expect(foreign.balances()).toEqual([8]);
  });

  it('goes on after the client’s last event, without a loss or a repeat', async () => {
    const first = await listen();
    expect(first.isResumed()).toBe(false);
    await announce(purchase(1));
    await announce(purchase(2));
    await first.untilSent(2);
    first.leave();
    await first.ended;
    await announce(purchase(3));

    // The client was sent the second event, and lost it.
    const again = await listen({ after: '1' });

    await again.untilSent(2);
    expect(again.isResumed()).toBe(true);
    expect(again.balances()).toEqual([2, 3]);
    expect(again.events().map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('passes to a later connection of its session, and the earlier one ends', async () => {
    const earlier = await listen();
    const later = await listen();
    await earlier.ended;
    await announce(purchase(1));
    await later.untilSent(1);
    expect(earlier.events()).toEqual([]);
  });

  it('gets an event when webhooks do: once final, and never if it vanished', async () => {
    const listener = await listen();
    const held = purchase(1);
    await announce(held, awaitingFinality);
    await webhooks.announce([purchase(2)]);
    await announce(purchase(3));
    await listener.untilSent(1);
    expect(listener.balances()).toEqual([3]);
    // The transaction landed again, upon another balance.
    await webhooks.announce([{ ...purchase(5), signature: held.signature }], awaitingFinality);

    await scene.pool.query(
      `update mirror.transactions set commitment = 'finalized' where signature = $1`,
      [held.signature],
    );

    await listener.untilSent(2);
    expect(listener.balances()).toEqual([3, 5]);
  });

  it('is one of five at most that a wallet has', async () => {
    for (let count = 0; count < 5; count += 1) {
      await listen({ cookie: await signIn(scene.call, scene.wallet) });
    }
    const cookie = await signIn(scene.call, scene.wallet);
    const { status, body } = await scene.call('POST /webhooks/listen', { cookie });
    expect([status, body.error.code, body.error.details]).toEqual([
      ...[429, 'rate_limit_exceeded'],
      { limit: 5, limit_of: 'wallet' },
    ]);
    await listen({ cookie: scene.strangerCookie });
  });

  it('makes way for a new one once it is not served and the wallet has five', async () => {
    const first = await signIn(scene.call, scene.wallet);
    let last = first;
    for (let count = 0; count < 6; count += 1) {
      if (count > 0) last = await signIn(scene.call, scene.wallet);
      const listener = await listen({ cookie: last });
      listener.leave();
      await listener.ended;
      await scene.pool.query(
        `update service.webhook_listeners set served_at = served_at - interval '1 minute'`,
      );
    }
    expect(await countListeners()).toBe(5);
    expect((await listen({ cookie: last })).isResumed()).toBe(true);
    expect((await listen({ cookie: first })).isResumed()).toBe(false);
    expect(await countListeners()).toBe(5);
  });

  it('is deleted ten minutes after its last use, and so is each event', async () => {
    const served = await listen();
    const gone = await listen({ cookie: scene.strangerCookie });
    for (const available of [1, 2]) await announce(purchase(available));
    await served.untilSent(2);
    gone.leave();
    await gone.ended;
    await scene.pool.query(
      `update service.webhook_listeners set served_at = now() - interval '11 minutes'
       where wallet = $1`,
      [scene.stranger.publicKey.toBase58()],
    );
    await scene.pool.query(
      `update service.listener_events set stored_at = now() - interval '11 minutes'
       where position = 1`,
    );

    await deleteOldSessions(scene.pool);

    expect(await countListeners()).toBe(1);
    const { rows } = await scene.pool.query('select position from service.listener_events');
    expect(rows).toEqual([{ position: 2n }]);
  });
});

describe('a triggered event', () => {
  const trigger = (event: string) =>
    scene.call('POST /webhooks/trigger', { cookie: scene.cookie, body: { event } });

  it('goes once to each enabled webhook of its kind, and to listeners', async () => {
    const url = 'https://example.com/hook';
    const wallet = scene.wallet.publicKey.toBase58();
    const events = ['job.completed'] as const;
    const id = await webhooks.addWebhook({ url, wallet, events });
    const others = [
      { wallet, events: ['credit.low'] as const },
      { wallet, events, status: 'disabled' },
      { wallet: scene.stranger.publicKey.toBase58(), events },
    ];
    for (const [index, other] of others.entries()) {
      await webhooks.addWebhook({ url: `${url}/${index}`, ...other });
    }
    const listener = await listen();

    const { body } = await trigger('job.completed');

    const deliveries = await webhooks.deliveries();
    expect(body).toEqual({
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      deliveries: [{ webhook_id: id, url, delivery_id: String(deliveries[0]?.id) }],
      listeners: 1,
    });
    expect(deliveries).toHaveLength(1);
    await listener.untilSent(1);
    expect(listener.events().map(({ data }) => data)).toEqual([deliveries[0]?.body]);
    expect(deliveries[0]?.body).toContain('"event":"job.completed","test":true,');
    const { event_id } = body;
    const answers = async (cookie = scene.cookie) =>
      (await scene.call(`GET /webhooks/listen/answers/${event_id}`, { cookie })).body.status_codes;
    expect(await answers()).toEqual([null]);
    const answer = { body: { event_id, status_code: 503 } };
    for (const cookie of [scene.strangerCookie, scene.cookie]) {
      expect(await answers()).toEqual([null]);
      await scene.call('POST /webhooks/listen/answers', { cookie, ...answer });
    }
    expect([await answers(), await answers(scene.strangerCookie)]).toEqual([[503], []]);
  });

  it('has a kind that webhooks can subscribe to', async () => {
    const { status, body } = await trigger('webhook.test');
    expect([status, body.error.param]).toEqual([400, 'event']);
  });
});
