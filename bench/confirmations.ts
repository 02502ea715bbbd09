import type { Connection } from '@solana/web3.js';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { waitUntil } from './waitUntil.ts';

/** Follows what the ledger says of the program's transactions. */
export interface Confirmations {
  /** When the ledger told of a transaction, in milliseconds of `performance.now()`. */
  atMs(signature: string): Promise<number>;
  close(): Promise<void>;
}

/** Listens to the stream that the indexer listens to, too: what comes after it is the service's. */
export function watchConfirmations(connection: Connection): Confirmations {
  const toldAtMs = new Map<string, number>();
  const subscription = connection.onLogs(
    PROGRAM_ID,
    ({ signature }) => void toldAtMs.set(signature, performance.now()),
    'confirmed',
  );
  return {
    async atMs(signature) {
      await waitUntil(`the ledger tells of ${signature}`, () => toldAtMs.has(signature));
      return toldAtMs.get(signature) as number;
    },
    close: () => connection.removeOnLogsListener(subscription),
  };
}
