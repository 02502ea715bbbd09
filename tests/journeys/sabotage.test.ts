import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { ed25519Instruction, jobProve } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { proofMessage, sign } from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: ['never_answers', 'never_answers'] });
});

afterAll(async () => {
  jest.restoreAllMocks();
  await service?.close();
});

/** By the API's own clock, a worker that failed once gets no job for 2 s: too few for a busy machine. */
function slowClock(): void {
  const now = performance.now.bind(performance);
  const startMs = now();
  jest.spyOn(performance, 'now').mockImplementation(() => startMs + (now() - startMs) / 20);
}

/** Proves any text for the job, as a worker can once it is acknowledged, and ends the stream. */
async function sabotage(thief: TestWorker): Promise<void> {
  const [found] = await service.untilDispatched(1);
  if (!found) throw new Error('no job is under way');
  const { address: job, data } = found;
  const worker = publicKeyOf(thief.address);
  const output = {
    outputHash: new Uint8Array(32).fill(7),
    promptTokens: 1,
    completionTokens: 2_000,
  };
  const message = proofMessage({
    programId: PROGRAM_ID,
    job,
    worker,
    attempt: data.attempt,
    ...output,
  });
  const key = thief.proofKeypair;
  await submit(service.operator, [
    ed25519Instruction({ publicKey: key.publicKey, message, signature: sign(message, key) }),
    jobProve({ job, worker, ed25519InstructionIndex: 0, ...output }),
  ]);
  thief.drop();
}

describe('a worker that proves garbage on the ledger and leaves', () => {
  it('keeps no job from a sound worker, which is paid and not punished', async () => {
    const asking = service.openai().chat.completions.create({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Hello.' }],
    });
    const [job] = await service.untilDispatched(1);
    slowClock();
    const thiefAddress = job?.data.worker.toBase58();
    const thief = service.workers.find(({ address }) => address === thiefAddress) as TestWorker;
    const sound = service.workers.find(({ address }) => address !== thiefAddress) as TestWorker;
    sound.setMode('honest');
    await sabotage(thief);

    const answer = await asking;
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    const [settled] = await service.untilJobs(([found]) => found?.data.status === 'settled');
    expect(settled?.data.worker.toBase58()).toBe(sound.address);
    expect(settled?.data.attempt).toBe(2);
    await service.expectConserved();

    // The sound worker is asked first from now on.
    for (let round = 0; round < 3; round += 1) {
      await service.openai().chat.completions.create({
        model: service.model.id,
        messages: [{ role: 'user', content: `Hello again, ${round}.` }],
      });
    }
    expect(sound.jobsAsked()).toBe(4);
    expect(thief.jobsAsked()).toBe(1);
  });
});
