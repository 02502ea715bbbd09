import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import pg from 'pg';
import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { endWithParent } from '../../common/shutdown.ts';
import { toBase58 } from '../../programs/client/keys.ts';
import type { Sender } from '../../programs/client/sender/sender.ts';
import { createRoom } from '../../programs/client/sender/transaction.ts';
import { MIRRORING, SETTLED } from './processes.ts';

// The API with a stubbed ledger, which confirms everything at once.

/** Position of the job among the accounts of `job_complete`. */
const JOB_INDEX = 3;
/** Of every transaction. */
const SIGNATURE = base58.encode(new Uint8Array(64).fill(1));

const config = loadConfig();
const { DATABASE_URL: connectionString } = config;
const hints = new pg.Pool({ connectionString, application_name: MIRRORING, max: 1 });
/** The stubbed ledger announces a settlement to its indexer before the API does. */
const announce = (job: string): void =>
  void hints.query({
    name: 'announce',
    text: `select pg_notify('${SETTLED}', $1)`,
    values: [job],
  });
const api = await startApi(config, { createSender: () => createStubbedSender(announce) });
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);

/**
 * Confirms every transaction at once.
 *
 * @param announce announces a settled job to the stubbed indexer
 */
function createStubbedSender(announce: (job: string) => void): Sender {
  const feePayer = Keypair.generate().publicKey;
  return {
    async send({ instructions, lane }) {
      const sent = typeof instructions === 'function' ? instructions(feePayer) : instructions;
      const settled = lane === 'settlements' ? sent : [];
      for (const { keys } of settled) {
        const job = keys[JOB_INDEX]?.pubkey;
        if (job) announce(toBase58(job));
      }
      return { status: 'landed', signature: SIGNATURE, slot: 1 };
    },
    room: () => createRoom('legacy', feePayer),
    waitedMs: () => 0,
    close: () => undefined,
  };
}
