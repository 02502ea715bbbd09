import { Argument, Command } from 'commander';
import { z } from 'zod';
import { delay } from '../../common/wait.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { parseUrlOf } from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';
import { listen } from './listen.ts';
import { type Session, type SignIn, withSession } from './service.ts';
import { addSignInOptions } from './signIn.ts';

/** `svc webhooks` of a wallet's owner. In a checkout the operators' commands stand beside these. */
export function createWebhooksCommand(): Command {
  const webhooks = new Command('webhooks')
    .description("a wallet's events on this machine, and events that try its webhooks")
    .commandsGroup('For customers, signed in by wallet:');
  addSignInOptions(webhooks.command('listen'))
    .description("send the wallet's events to a receiver here, signed as webhooks are")
    .requiredOption('--forward-to <url>', 'where the receiver listens', (text) =>
      parseUrlOf('--forward-to', text),
    )
    .action(listenHere);
  addSignInOptions(webhooks.command('trigger'))
    .description('send an example of an event, once, to the webhooks and terminals of the wallet')
    .addArgument(new Argument('<kind>', 'the kind of event').choices(WEBHOOK_KINDS))
    .action((kind: string, signIn: SignIn) =>
      withSession(signIn, ({ call }) => trigger(kind, call)),
    );
  return webhooks;
}

async function listenHere({ forwardTo, ...signIn }: SignIn & { forwardTo: URL }): Promise<void> {
  const leaving = new AbortController();
  // Below npx one Ctrl-C arrives twice: from the terminal, and passed on.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => leaving.abort());
  await withSession(signIn, (session) => listen({ session, forwardTo, signal: leaving.signal }));
}

const triggered = z.object({
  event_id: z.string(),
  deliveries: z.array(
    z.object({ webhook_id: z.string(), url: z.string(), delivery_id: z.string() }),
  ),
  listeners: z.number(),
});
type Delivery = z.infer<typeof triggered>['deliveries'][number];

const attempt = z.object({
  status_code: z.number().nullable(),
  error: z.string().nullable(),
  duration_ms: z.number().nullable(),
});
const delivery = z.object({ status: z.string(), last_attempt: attempt.nullable() });

/** An attempt takes at most 10 s, after the indexer has begun it. */
const DELIVERY_MS_MAX = 15_000;
const POLL_MS = 200;

/**
 * Sends an example of an event, and prints how each receiver answers it.
 *
 * @throws CommandError where nothing subscribes to it, or a receiver does not accept it
 */
async function trigger(kind: string, call: Session['call']): Promise<void> {
  const answer = await call('POST /webhooks/trigger', { event: kind });
  const { event_id, deliveries, listeners } = triggered.parse(answer);
  if (deliveries.length === 0 && listeners === 0) {
    throw new CommandError(
      `No enabled webhook of the wallet subscribes to ${kind}, and nothing listens: ` +
        'create one, or run svc webhooks listen.',
    );
  }
  console.log(event_id);
  const accepted = await Promise.all([
    listeners === 0 || showAnswers(event_id, call),
    ...deliveries.map((each) => showResult(each, call)),
  ]);
  if (accepted.includes(false)) throw new CommandError('Not every receiver accepted the event.');
}

const answers = z.object({ status_codes: z.array(z.number().nullable()) });

/** @returns whether the receiver behind each listener accepted it */
async function showAnswers(eventId: string, call: Session['call']): Promise<boolean> {
  const read = async () =>
    answers.parse(await call(`GET /webhooks/listen/answers/${eventId}`)).status_codes;
  const deadline = performance.now() + DELIVERY_MS_MAX;
  let codes = await read();
  while (codes.includes(null) && performance.now() < deadline) {
    await delay(POLL_MS);
    codes = await read();
  }
  for (const code of codes) console.error(`svc webhooks listen: ${code || 'no answer'}`);
  return codes.every((code) => code !== null && code >= 200 && code < 300);
}

/** @returns whether the webhook accepted it */
async function showResult(
  { webhook_id, url, delivery_id }: Delivery,
  call: Session['call'],
): Promise<boolean> {
  const route = `GET /deliveries/${delivery_id}`;
  const deadline = performance.now() + DELIVERY_MS_MAX;
  let state = delivery.parse(await call(route));
  while (state.status === 'pending' && performance.now() < deadline) {
    await delay(POLL_MS);
    state = delivery.parse(await call(route));
  }
  const { status, last_attempt: last } = state;
  const result =
    status === 'pending'
      ? 'not sent yet'
      : `${last?.status_code ?? last?.error ?? status} after ${last?.duration_ms ?? '?'} ms`;
  console.error(`${webhook_id} ${url}: ${result}`);
  return status === 'delivered';
}
