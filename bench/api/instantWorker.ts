import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { endWithParent } from '../../runtime/parent.ts';
import { createChunks } from '../../worker/chunks.ts';
import { jobRequest } from '../../worker/contracts.ts';
import { createEventStream } from '../../worker/eventStream.ts';
import { createProofSigner } from '../../worker/proofs.ts';
import { WORDS } from '../words.ts';

// A worker that answers at once and looks for no lock: with the ledger doubled there is none.

const SLOTS = 1_000;

const { BENCH_WORKER_ADDRESS: address = '', BENCH_PROOF_KEY: proofKey = '' } = process.env;
const worker = new PublicKey(address);
const keypair = Keypair.fromSecretKey(bs58.decode(proofKey));
const outputHash = createHash('sha256').update(WORDS.join('')).digest();

const server = createServer(async (request, response) => {
  if (request.url === '/health') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ worker_address: address, slots: SLOTS, engine: 'none' }));
    return;
  }
  const job = jobRequest.parse(await json(request));
  const chunk = createChunks(job);
  const stream = createEventStream(response, AbortSignal.timeout(60_000));
  await stream.send(chunk({ role: 'assistant' }));
  for (const content of WORDS) await stream.send(chunk({ content }));
  await stream.send(chunk({}, 'stop'));
  const signProof = createProofSigner({ programId: job.program_id, worker, proofKey: keypair });
  const counts = { promptTokens: 8, completionTokens: WORDS.length };
  const { job_address, attempt } = job;
  stream.end('proof', signProof({ job: job_address, attempt, outputHash, ...counts }));
});

endWithParent();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
