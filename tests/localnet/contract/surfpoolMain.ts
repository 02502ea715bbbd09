import { createRequire } from 'node:module';

// surfpool has a process of its own, which can be killed. It draws its ports by chance, and blocks its
// thread for ever where one is taken by then.

const [, , packageName = '', payerSecretKey = ''] = process.argv;
/** It stops when the queue of its events is full. */
const DRAIN_INTERVAL_MS = 50;
/** A blockhash lives for 150 of them: so long that no transaction expires between signing and sending. */
const SLOT_MS = 100;

interface Surfnet {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  drainEvents(): unknown[];
}

interface Binding {
  readonly Surfnet: { startWithConfig(config: object): Surfnet };
}

const { Surfnet: surfnets }: Binding = createRequire(import.meta.url)(packageName);
const surfnet = surfnets.startWithConfig({
  offline: true,
  blockProductionMode: 'clock',
  slotTimeMs: SLOT_MS,
  payerSecretKey: [...Buffer.from(payerSecretKey, 'hex')],
});
setInterval(() => surfnet.drainEvents(), DRAIN_INTERVAL_MS);
const { rpcUrl, wsUrl } = surfnet;
process.stdout.write(`${JSON.stringify({ rpcUrl, wsUrl })}\n`);
