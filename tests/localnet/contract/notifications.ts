import { once } from 'node:events';
import { base58 } from '@scure/base';
import { SystemProgram } from '@solana/web3.js';
import WebSocket from 'ws';
import { within } from '../../../common/wait.ts';
import type { ContractScene } from './scene.ts';
import type { Target } from './target.ts';

const KINDS = ['account', 'logs', 'program', 'signature', 'slot'] as const;
/** For what never comes: then it is a difference, which names it before the test's time-out. */
const WAIT_MS = 20_000;
const LAMPORTS = 6_000_000;

interface Message {
  id?: number;
  result?: unknown;
  method?: string;
  params?: unknown;
}

/** What a websocket gets of one transfer, by the kind of subscription; undefined: nothing. */
export async function gatherNotifications(
  { wsUrl }: Target,
  scene: ContractScene,
): Promise<Record<string, unknown>> {
  const to = scene.to.toBase58();
  const client = new WebSocket(wsUrl);
  await once(client, 'open');
  const heard = new Map<unknown, PromiseWithResolvers<unknown>>();
  const wait = (key: unknown): Promise<unknown> => {
    const waiting = heard.get(key) ?? Promise.withResolvers();
    heard.set(key, waiting);
    return waiting.promise;
  };
  client.on('message', (data) => {
    const message = JSON.parse(String(data)) as Message;
    // A validator pays for its votes from an account of the same program.
    if (message.method === 'programNotification' && !String(data).includes(to)) return;
    const key = message.id ?? message.method;
    void wait(key);
    heard.get(key)?.resolve(message.id === undefined ? message.params : message.result);
  });

  const config = { commitment: 'confirmed', encoding: 'base64' };
  const subscribe = async (kind: (typeof KINDS)[number], params: unknown[]): Promise<void> => {
    const id = KINDS.indexOf(kind);
    client.send(JSON.stringify({ jsonrpc: '2.0', id, method: `${kind}Subscribe`, params }));
    await within(WAIT_MS, wait(id));
  };
  await subscribe('account', [to, config]);
  await subscribe('logs', [{ mentions: [to] }, config]);
  await subscribe('program', [
    SystemProgram.programId.toBase58(),
    { ...config, filters: [{ dataSize: 0 }] },
  ]);
  // Signed last: surfpool's blockhashes live for seconds, and a busy machine took longer before.
  const transaction = await scene.sign([
    SystemProgram.transfer({
      fromPubkey: scene.payer.publicKey,
      toPubkey: scene.to,
      lamports: LAMPORTS,
    }),
  ]);
  const signature = base58.encode(transaction.signature as Buffer);
  await subscribe('signature', [signature, { commitment: 'confirmed' }]);
  // surfpool answers a subscription before it is in place. Where the last one works, the others do.
  await subscribe('slot', []);
  await within(WAIT_MS, wait('slotNotification'));
  const wire = transaction.serialize().toString('base64');
  const sent = await scene.call('sendTransaction', [
    wire,
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ]);
  if (sent.error) throw new Error(`the transfer was refused: ${JSON.stringify(sent.error)}`);
  const received = await Promise.all(
    KINDS.map(async (kind) => [kind, await within(WAIT_MS, wait(`${kind}Notification`))] as const),
  );
  client.terminate();
  return Object.fromEntries(received);
}
