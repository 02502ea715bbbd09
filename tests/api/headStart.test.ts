import { describe, expect, it } from '@jest/globals';
import { answerOf, createHeadStart } from '../../api/jobs/headStart.ts';
import type { JobDraft, LockedJob } from '../../api/ledger/job.ts';
import type { Reservation } from '../../api/workers/capacity.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { job } from './completionScene.ts';

const text = (said: string): WorkerEvent[] => [{ type: 'content', text: said }];
const worker = { endpoint: 'http://worker.example', address: 'a worker' };
const locked = (tokenLimit: number) => ({ tokenLimit }) as LockedJob;

/** A head start of one request, with workers that answer so to each time they are asked. */
function openScene(answer: (asked: number) => WorkerEvent[] | Error = () => text('Hello.')) {
  const asked: { task: WorkerTask; connection: AbortSignal; isLeft: boolean }[] = [];
  async function* submit(task: WorkerTask, connection: AbortSignal) {
    const one = { task, connection, isLeft: false };
    const given = answer(asked.push(one));
    try {
      if (given instanceof Error) throw given;
      yield given;
    } finally {
      one.isLeft = true;
    }
  }
  const draft = job as unknown as JobDraft;
  const headStart = createHeadStart({ submit }, { draft, chat: { model: 'model' } });
  const sendLock = (tokenLimit = job.tokenLimit) =>
    headStart.begin({ worker } as Reservation, { tokenLimit });
  /** All that is read once the lock counts. */
  async function read(): Promise<WorkerEvent[]> {
    const events: WorkerEvent[] = [];
    const again = () => submit({ attempt: 1 } as WorkerTask, new AbortController().signal);
    const begun = headStart.of(locked(job.tokenLimit));
    if (!begun) throw new Error('it was not asked');
    for await (const some of answerOf(begun, again)) events.push(...some);
    return events;
  }
  return { headStart, sendLock, asked, read };
}

describe('the first worker of a job', () => {
  it('is asked with its lock, once however often that is sent', async () => {
    const { asked, sendLock, read } = openScene();
    expect(asked).toEqual([]);
    for (let sent = 0; sent < 3; sent += 1) sendLock();
    const { id, address, requestSalt, tokenLimit } = job;
    const of = { jobId: id, jobAddress: address, requestSalt, tokenLimit, attempt: 1 };
    const to = { endpoint: worker.endpoint, workerAddress: worker.address };
    expect(asked.map(({ task }) => task)).toEqual([{ ...of, ...to, chat: { model: 'model' } }]);
    expect(await read()).toEqual(text('Hello.'));
    expect(asked.length).toBe(1);
  });

  it('is left at once when the lock is refused', async () => {
    const { asked, sendLock, headStart } = openScene();
    sendLock();
    await new Promise(setImmediate);
    headStart.drop();
    expect(asked[0]?.connection.aborted).toBe(true);
    await new Promise(setImmediate);
    expect(asked[0]?.isLeft).toBe(true);
  });

  it('is asked again for a job that was locked for another limit', async () => {
    const { asked, sendLock, read } = openScene((count) => text(`answer ${count}`));
    sendLock(job.tokenLimit + 1);
    sendLock(job.tokenLimit);
    expect(asked.map(({ connection }) => connection.aborted)).toEqual([true, false]);
    expect(await read()).toEqual(text('answer 2'));
  });

  it('is asked again, without blame, if the lock was confirmed too late for it', async () => {
    const refuse = new WorkerFailedError('job_not_found');
    const { sendLock, read } = openScene((count) => (count === 1 ? refuse : text('Now.')));
    sendLock();
    expect(await read()).toEqual(text('Now.'));
  });

  it('fails as it would have failed later for any other reason', async () => {
    const failure = new WorkerFailedError('upstream_failed');
    const { asked, sendLock, read } = openScene(() => failure);
    sendLock();
    await expect(read()).rejects.toBe(failure);
    expect(asked.length).toBe(1);
  });
});
