import anchor from '@coral-xyz/anchor';
import { fetchJob } from '../../../programs/client/index.ts';
import type { ForgedScene, JobName } from '../../auditors/forgedScene.ts';
import { forgeEvent, set } from '../../auditors/forgeries/forge.ts';
import type { Sight } from './sight.ts';

/** Which event of which job, and how long before it the time began that bounds it. */
const BOUNDED: readonly [JobName, string, 'work' | 'window' | 'arbitration'][] = [
  ['settled', 'JobAcknowledged', 'work'],
  ['settled', 'JobProven', 'work'],
  ['settled', 'JobSettled', 'work'],
  ['failed', 'JobFailed', 'work'],
  ['refunded', 'JobRefunded', 'work'],
  ['expired', 'JobDisputed', 'window'],
  ['upheld', 'DisputeResolved', 'window'],
  ['expired', 'DisputeAmended', 'arbitration'],
  ['upheld', 'DisputeResolved', 'arbitration'],
  ['expired', 'DisputeExpired', 'arbitration'],
];

/** Events in the last second of a time that bounds them, and one second later. */
export async function boundaries(scene: ForgedScene): Promise<Sight[]> {
  const sights = BOUNDED.map(async ([name, event, bound]) => {
    const job = scene.jobs[name];
    const due = await dueOf(scene, name, bound);
    return [0n, 1n].map((later) => ({
      name: `${event} ${later === 0n ? 'in the last second of' : 'a second after'} its ${bound}`,
      job,
      forgery: forgeEvent(event, set('unix_time', new anchor.BN(`${due + later}`)), job),
    }));
  });
  return (await Promise.all(sights)).flat();
}

async function dueOf(
  { ledger, jobs }: ForgedScene,
  name: JobName,
  bound: (typeof BOUNDED)[number][2],
): Promise<bigint> {
  const job = await fetchJob(ledger.connection, jobs[name]);
  if (!job) throw new Error(`there is no job ${name}`);
  const after = (start: number, seconds: number) => job.lockedAt + BigInt(start + seconds);
  switch (bound) {
    case 'work':
      return after(0, job.jobTimeoutSeconds);
    case 'window':
      return after(job.endedAfterSeconds, job.disputeWindowSeconds);
    case 'arbitration':
      return after(job.disputedAfterSeconds, job.arbitrationWindowSeconds);
  }
}
