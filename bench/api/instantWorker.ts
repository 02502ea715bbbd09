import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { endWithParent } from '../../runtime/parent.ts';
import { createChunks } from '../../worker/chunks.ts';
import { createProofSigner } from '../../worker/proofs.ts';
import { WORDS } from '../words.ts';
import { GENERATION_MS } from './generation.ts';

// A worker that begins its answer at once, each time the same, and looks for no lock: with the
// ledger doubled there is none.

const SLOTS = 1_000;

const { BENCH_WORKER_ADDRESS: address = '', BENCH_PROOF_KEY: proofKey = '' } = process.env;
const worker = new PublicKey(address);
const keypair = Keypair.fromSecretKey(bs58.decode(proofKey));
const chunk = createChunks({ job_id: '0', chat: { model: 'bench' } });
const [FIRST_WORD, ...OTHER_WORDS] = WORDS.map((content) => chunk({ content }));
const FIRST = events([chunk({ role: 'assistant' }), FIRST_WORD]);
const OTHERS = events([...OTHER_WORDS, chunk({}, 'stop')]);
const outputHash = createHash('sha256').update(WORDS.join('')).digest();

const signProof = createProofSigner({ programId: PROGRAM_ID, worker, proofKey: keypair });

const server = createServer(async (request, response) => {
  if (request.url === '/health') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ worker_address: address, slots: SLOTS, engine: 'none' }));
    return;
  }
  const job = (await json(request)) as { job_address: string; attempt: number };
  response.setHeader('content-type', 'text/event-stream');
  response.write(FIRST);
  const others = delay(GENERATION_MS);
  // What is written leaves at the end of this turn, and must not wait for the signature.
  await setImmediate();
  const proof = signProof({
    ...{ job: new PublicKey(job.job_address), attempt: job.attempt, outputHash },
    ...{ promptTokens: 8, completionTokens: WORDS.length },
  });
  await others;
  response.end(`${OTHERS}event: proof\ndata: ${JSON.stringify(proof)}\n\n`);
});

function events(chunks: readonly unknown[]): string {
  return chunks.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

endWithParent();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
