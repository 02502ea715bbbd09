import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Keypair } from '@solana/web3.js';
import { Agent, request as sendRequest } from 'undici';
import { hashKey, selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { claimRequests, storeAnswers } from '../../api/sql/requests.ts';
import { createPool } from '../../common/postgres.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import {
  type Json,
  requestCommitment,
  sign,
  signHashed,
  verifyHashed,
} from '../../programs/client/proof.ts';
import { costMetrics, serve } from '../servers.ts';

// The minimum for a paid and proven answer, without the ledger. It creates a job id, reads key and
// balance, and claims the request. It calls the worker with a signature, checks its proof, signs a
// receipt and stores the answer. It has no validation, no choice of workers, no limits and no events.

const { DATABASE_URL: databaseUrl = '', BENCH_WORKER_URL = '' } = process.env;
const { BENCH_WORKER_ADDRESS: workerAddress, BENCH_PROGRAM: programId } = process.env;
const LIFETIME_SECONDS = 600;
const SIGNED_BYTES = 181;
const TOKEN_LIMIT = 2_000;

const database = createPool({ databaseUrl, applicationName: 'svc-bench', plansOnce: true });
const signer = Keypair.generate();
const creditAccount = Keypair.generate().publicKey;
const message = randomBytes(SIGNED_BYTES);
const signature = signHashed(message, signer);
const dispatcher = new Agent();

const server = createServer(async (incoming, response) => {
  if (incoming.url === '/metrics') return void response.end(costMetrics());
  const key = String(incoming.headers.authorization).slice('Bearer '.length);
  const { model, messages, stream } = (await json(incoming)) as Record<string, Json>;
  const requestKey = createHash('sha256').update(JSON.stringify(messages)).digest();
  const { bytes, address } = createJobId({ nowMs: Date.now(), creditAccount });
  const jobId = formatJobId(bytes);
  const request = { requestKey, jobId, lifetimeSeconds: LIFETIME_SECONDS };
  const [payer] = await selectKeysAndAccounts(database, [hashKey(key)]);
  const wallet = payer?.wallet ?? '';
  await claimRequests(database, [{ ...request, wallet, bodyHmac: requestKey }]);
  const salt = randomBytes(32);
  const asked = await sendRequest(`${BENCH_WORKER_URL}/jobs`, {
    method: 'POST',
    dispatcher,
    headers: { 'svc-signature': Buffer.from(sign(message, signer)).toString('base64') },
    body: JSON.stringify({
      job_id: jobId,
      job_address: address.toBase58(),
      program_id: programId,
      worker_address: workerAddress,
      attempt: 1,
      token_limit: TOKEN_LIMIT,
      request_salt: salt.toString('hex'),
      chat: { model, messages },
    }),
  });
  let answer = '';
  for await (const chunk of asked.body.setEncoding('utf8')) {
    answer += chunk;
    if (stream) response.write(chunk);
  }
  requestCommitment(salt, { model, messages, token_limit: TOKEN_LIMIT });
  const isProven = verifyHashed({ publicKey: signer.publicKey, message, signature });
  const receipt = Buffer.from(signHashed(message, signer)).toString('hex');
  const kept = { ...request, wallet, sealed: Buffer.from(answer) };
  const store = storeAnswers(database, [kept]);
  if (!stream) await store;
  if (!stream) response.setHeader('x-svc-delivery-receipt', receipt);
  response.end(`${stream ? receipt : answer}${isProven}data: [DONE]`);
});

await serve(server, '/v1');
