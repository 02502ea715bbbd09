import { base58 } from '@scure/base';
import { SystemProgram } from '@solana/web3.js';
import { within } from '../../../common/wait.ts';
import { openSocket } from '../socket.ts';
import type { ContractScene } from './scene.ts';
import type { Target } from './target.ts';

/** For what never comes: then it is a difference, which names it before the test's time-out. */
const WAIT_MS = 20_000;
const LAMPORTS = 6_000_000;

/** What a websocket gets of one transfer, by the kind of subscription; undefined: nothing. */
export async function gatherNotifications(
  { wsUrl }: Target,
  scene: ContractScene,
): Promise<Record<string, unknown>> {
  const to = scene.to.toBase58();
  const socket = await openSocket(wsUrl);
  const next = async (kind: string, words?: string) =>
    (await within(WAIT_MS, socket.next(kind, words)))?.params;
  const config = { commitment: 'confirmed', encoding: 'base64' };
  const subscribe = (kind: string, ...params: unknown[]) =>
    within(WAIT_MS, socket.ask(`${kind}Subscribe`, ...params));
  await subscribe('account', to, config);
  await subscribe('logs', { mentions: [to] }, config);
  const filters = [{ dataSize: 0 }];
  await subscribe('program', SystemProgram.programId.toBase58(), { ...config, filters });
  // Signed last: surfpool's blockhashes live for seconds, and a busy machine took longer before.
  const transfer = { fromPubkey: scene.payer.publicKey, toPubkey: scene.to, lamports: LAMPORTS };
  const transaction = await scene.sign([SystemProgram.transfer(transfer)]);
  const signature = base58.encode(transaction.signature as Buffer);
  await subscribe('signature', signature, { commitment: 'confirmed' });
  // surfpool answers a subscription before it is in place. Where the last one works, the others do.
  await subscribe('slot');
  const slot = await next('slot');
  const wire = transaction.serialize().toString('base64');
  const sent = await scene.call('sendTransaction', [
    wire,
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ]);
  if (sent.error) throw new Error(`the transfer was refused: ${JSON.stringify(sent.error)}`);
  const [account, logs, program, ofSignature] = await Promise.all([
    next('account'),
    next('logs'),
    // A validator pays for its votes from an account of the same program.
    next('program', to),
    next('signature'),
  ]);
  socket.client.terminate();
  return { account, logs, program, signature: ofSignature, slot };
}
