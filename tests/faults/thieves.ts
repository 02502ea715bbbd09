import type { Keypair } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import { jobComplete, jobLock, verdictInstruction } from '../../programs/client/instructions.ts';
import { createJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { type SignedMessage, sign, signHashed } from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import type { Random } from '../../testing/random.ts';
import type { CapturedRequest } from '../../testing/workers/misbehavingWorker.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';
import type { JobAccount } from './books.ts';
import { createOwnJobs } from './ownJobs.ts';
import { signedProof } from './sabotage.ts';
import type { Scene, Wallet } from './scene.ts';
import type { Tally } from './tally.ts';

const TOKEN_LIMIT = 200;
const MAX_CREDITS = 1_000n;
const addresses = createAddresses();

/**
 * A wallet locks a job with its own signature, so that it controls the job, and asks a worker itself.
 *
 * @returns the violation, if the worker works for it
 */
export async function lockForOneself(
  { service, honest }: Scene,
  { random, tally, thief }: { random: Random; tally: Tally; thief: Wallet },
): Promise<string[]> {
  tally.note('thief locks for itself');
  const own = createOwnJobs(service, thief.keypair);
  const job = await own.lock();
  const { url, address } = honest[random.below(honest.length)] as TestWorker;
  const worker = { url, address: publicKeyOf(address) };
  const answer = await own.ask(worker, job, 1 + random.below(255));
  const text = await answer.text();
  await own.fail(job);
  return answer.ok ? [`a worker gave a thief ${text.length} characters for nothing`] : [];
}

const REPLAYED = ['content-type', 'svc-signer', 'svc-timestamp', 'svc-signature'];

/** Sends a request that the API sent to a worker once more, to that worker or to another one. */
async function sendAgain(worker: TestWorker, request: CapturedRequest): Promise<Response> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => REPLAYED.includes(name)),
  ) as Record<string, string>;
  const body = new Uint8Array(request.body());
  return fetch(`${worker.url}${request.path}`, { method: 'POST', headers, body });
}

/** Replays the newest job of each honest worker. @returns each that was worked for again */
export async function replayRequests(
  { honest }: Scene,
  { random, tally }: { random: Random; tally: Tally },
): Promise<string[]> {
  const violations: string[] = [];
  for (const seen of honest) {
    const request = seen.requests.findLast(({ path }) => path === '/jobs');
    if (!request) continue;
    const asked = honest[random.below(honest.length)] as TestWorker;
    tally.note('thief replays a request');
    const answer = await sendAgain(asked, request);
    const text = await answer.text();
    if (answer.ok) violations.push(`a worker answered a replayed request: ${text.slice(0, 200)}`);
  }
  return violations;
}

/**
 * A thief of the gateway's hot signer locks a job for a wallet, and charges it by proofs that no
 * worker signed. A thief of a worker's keys alone charges it by a true proof.
 *
 * @returns each charge that the program took
 */
export async function chargeUnproven(
  { service, honest }: Scene,
  { random, tally, thief }: { random: Random; tally: Tally; thief: Wallet },
): Promise<string[]> {
  const { operator, hotSigner, gatewayOperator, ledger, model } = service;
  const victim = honest[random.below(honest.length)] as TestWorker;
  const other = service.workers.find((one) => one !== victim) as TestWorker;
  const wallet = thief.keypair.publicKey;
  const creditAccount = addresses.creditAccount(wallet);
  const lockedAt = Number(await readClockSeconds(ledger.connection));
  const { bytes: jobId, address: job } = createJobId({ nowMs: lockedAt * 1_000, creditAccount });
  const signer = hotSigner.publicKey;
  const gateway = addresses.gateway(gatewayOperator.publicKey);
  const payer = operator.authority.publicKey;
  const terms = { modelId: model.id, jobId, tokenLimit: TOKEN_LIMIT, maxCredits: MAX_CREDITS };
  await submit(operator, [jobLock({ payer, signer, gateway, wallet, ...terms })], [hotSigner]);

  const output = {
    ...{ outputHash: OTHER_HASH, promptTokens: 1, completionTokens: TOKEN_LIMIT },
    statement: REQUEST,
  };
  const proof = { job: job.toBase58(), attempt: 1, ...output };
  const proven = signedProof(victim, proof);
  const parties = { job, creditAccount, worker: publicKeyOf(victim.address) };
  const complete = (signature: Uint8Array, by: Keypair) => {
    const own = { signer: by.publicKey, ...(by === hotSigner && { gateway }) };
    const completed = { ...parties, ...output, ...own, workerPayout: victim.payout, attempt: 1 };
    const instruction = jobComplete({ ...completed, countedTokens: TOKEN_LIMIT, signature });
    return isTaken(submit(operator, [instruction], [by]));
  };
  const unlike = (changes: Partial<typeof proof>) =>
    signedProof(victim, { ...proof, ...changes }).signature;
  const attempts: [string, Uint8Array, by?: Keypair][] = [
    ['no signature', new Uint8Array(64)],
    ['its own signature', signHashed(proven.message, hotSigner)],
    ["another worker's signature", signHashed(proven.message, other.proofKeypair)],
    ['a proof of fewer tokens', unlike({ completionTokens: 1 })],
    ['a proof of another attempt', unlike({ attempt: 2 })],
    ['a proof of another request', unlike({ statement: OTHER_HASH })],
    ['a signature of the message itself', sign(proven.message, victim.proofKeypair)],
    ["a proof and the worker's keys alone", proven.signature, victim.authority],
  ];
  const violations: string[] = [];
  for (const [what, signature, by = hotSigner] of attempts) {
    tally.note(`thief charges by ${what}`);
    if (await complete(signature, by)) violations.push(`a job was charged by ${what}`);
  }
  // What was refused before was refused for its signature or its signer.
  const isCharged = await complete(proven.signature, hotSigner);
  const ageSeconds = Number(await readClockSeconds(ledger.connection)) - lockedAt;
  if (!isCharged && ageSeconds <= JOB_TIMEOUT_SECONDS) violations.push('a true proof was refused');
  return violations;
}

/** What the worker signed for a job, or would have signed with another hash or attempt. */
const proofOf = (
  worker: TestWorker,
  job: JobAccount,
  changes: Partial<Parameters<typeof signedProof>[1]> = {},
): SignedMessage => {
  const { address, attempt, promptTokens, completionTokens } = job;
  const outputHash = Buffer.from(job.outputHash, 'hex');
  const output = { job: address, attempt, outputHash, promptTokens, completionTokens };
  return signedProof(worker, { ...output, statement: REQUEST, ...changes });
};

const OTHER_HASH = new Uint8Array(32).fill(9);
/** The dispute window and a second. */
const PAST_WINDOW_SECONDS = 61;

/**
 * The arbiter has a job disputed and tries to convict its worker without two signatures of it.
 *
 * @returns each verdict that the program let it reach
 */
export async function convictInnocent(
  scene: Scene,
  { tally, job, wallet }: { tally: Tally; job: JobAccount; wallet: Wallet },
): Promise<string[]> {
  const worker = workerOf(scene, job);
  if (!worker || !(await disputeJob(scene, job, wallet))) return [];
  const stranger = scene.service.workers.find((other) => other !== worker) as TestWorker;
  const proof = proofOf(worker, job);
  const forged = {
    ...proofOf(worker, job, { outputHash: OTHER_HASH }),
    signature: proof.signature,
  };
  const { message } = forged;
  const unhashed = { ...forged, signature: sign(message, worker.proofKeypair) };
  const attempts: [string, readonly SignedMessage[]][] = [
    ['no proof', []],
    ['one proof twice', [proof, proof]],
    ['a proof by another key', [proof, proofOf(stranger, job, { outputHash: OTHER_HASH })]],
    [
      'a proof of another attempt',
      [proof, proofOf(worker, job, { attempt: 200, outputHash: OTHER_HASH })],
    ],
    ['a forged signature', [proof, forged]],
    ['a signature of the message itself', [proof, unhashed]],
  ];
  const violations: string[] = [];
  for (const [what, evidence] of attempts) {
    tally.note(`arbiter convicts on ${what}`);
    if (await decide(scene, job, 'upheld_worker', evidence)) {
      violations.push(`the arbiter convicted a worker on ${what}`);
    }
  }
  await decide(scene, job, 'rejected', []);
  return violations;
}

/** Convicts a worker that signed two texts for one attempt. @returns whether the program let it */
export async function convictGuilty(
  scene: Scene,
  { job, wallet }: { job: JobAccount; wallet: Wallet },
): Promise<boolean> {
  const worker = workerOf(scene, job);
  if (!worker || !(await disputeJob(scene, job, wallet))) return false;
  const proofs = [proofOf(worker, job), proofOf(worker, job, { outputHash: OTHER_HASH })];
  return decide(scene, job, 'upheld_worker', proofs);
}

const workerOf = ({ service }: Scene, job: JobAccount): TestWorker | undefined =>
  service.workers.find(({ address }) => address === job.worker);

async function disputeJob({ service }: Scene, job: JobAccount, wallet: Wallet): Promise<boolean> {
  const response = await fetch(`${service.baseUrl}/v1/jobs/${job.id}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
  });
  await response.arrayBuffer();
  if (response.ok) await service.advanceSeconds(PAST_WINDOW_SECONDS);
  return response.ok;
}

async function decide(
  { service }: Scene,
  job: JobAccount,
  verdict: 'upheld_worker' | 'rejected',
  evidence: readonly SignedMessage[],
): Promise<boolean> {
  const { arbiter, operator } = service;
  const instruction = verdictInstruction(evidence, {
    arbiter: arbiter.publicKey,
    job: publicKeyOf(job.address),
    creditAccount: publicKeyOf(job.creditAccount),
    worker: publicKeyOf(job.worker),
    verdict,
  });
  return isTaken(submit(operator, [instruction], [arbiter]));
}

const isTaken = (sent: Promise<unknown>): Promise<boolean> =>
  sent.then(
    () => true,
    () => false,
  );
