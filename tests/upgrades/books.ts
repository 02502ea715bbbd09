import { expect } from '@jest/globals';
import OpenAI from 'openai';
import type { Receiver } from '../../testing/indexer/receiver.ts';
import { until } from '../../testing/until.ts';
import type { Service } from './load.ts';

const JOB_EVENTS = ['job.submitted', 'job.processing', 'job.completed', 'job.failed'];

/** Subscribes a receiver to all events of the wallet's jobs. */
export async function subscribe({ baseUrl, apiKey }: Service, receiver: Receiver): Promise<void> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  await client.post('/webhooks', { body: { url: receiver.url, events: JOB_EVENTS } });
}

/** What the service's own list says of every job of the wallet, oldest first. */
async function listJobs({ baseUrl, apiKey }: Service) {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  const jobs: { id: string; status: string; credits_charged: number }[] = [];
  let before: string | null = null;
  do {
    const query: Record<string, string> = { limit: '100', ...(before && { before }) };
    const page: { data: typeof jobs; next_cursor: string | null } = await client.get('/jobs', {
      query,
    });
    jobs.unshift(...page.data.toReversed());
    before = page.next_cursor;
  } while (before !== null);
  return jobs;
}

/** Exactly the jobs of the answers are settled, each at the price of a short answer. */
export async function expectSettled(
  service: Service & { chargeCredits: bigint },
  jobIds: readonly string[],
): Promise<void> {
  const read = () => listJobs(service);
  const isEnded = ({ status }: { status: string }) => /settled|failed|refunded/.test(status);
  await until(async () => (await read()).every(isEnded));
  const settled = (await read()).filter(({ status }) => status === 'settled');
  expect(settled.map(({ id }) => id).sort()).toEqual([...jobIds].sort());
  const charges = new Set(settled.map(({ credits_charged }) => BigInt(credits_charged)));
  expect(charges).toEqual(new Set([service.chargeCredits]));
}

/**
 * Every answered job was announced once in each of its states, and no event came twice. A release
 * before the first ordered one may leave out `job.processing` of a job that it ends at once.
 */
export async function expectAnnounced(
  receiver: Receiver,
  jobIds: readonly string[],
): Promise<{ events: number }> {
  const kindsOf = (jobId: string) =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as { event: string; data: { job_id: string } })
      .filter(({ data }) => data.job_id === jobId)
      .map(({ event }) => event)
      .filter((event) => event !== 'job.processing')
      .sort();
  const whole = ['job.completed', 'job.submitted'];
  await until(async () => jobIds.every((jobId) => kindsOf(jobId).includes('job.completed')));
  expect(jobIds.filter((jobId) => kindsOf(jobId).join() !== whole.join())).toEqual([]);
  const ids = receiver.received.map(({ headers }) => String(headers['svc-event-id']));
  expect(ids.length).toBe(new Set(ids).size);
  return { events: ids.length };
}
