import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { LedgerEvent } from '../../indexer/fold/event.ts';
import { notifierOf } from '../../indexer/mirror/progress.ts';

const event = { name: 'JobFailed', data: { job: 'a job' } } as unknown as LedgerEvent;

it('a failed notification is reported after the announcement’s statements', async () => {
  const sent: string[] = [];
  const database = {
    query: async () => Promise.reject(new Error('no notification')),
  } as unknown as Parameters<ReturnType<typeof notifierOf>>[0];
  const outbox = {
    async announce() {
      await turn();
      sent.push('a statement after the failure');
    },
  } as unknown as NonNullable<Parameters<typeof notifierOf>[0]['outbox']>;

  await expect(notifierOf({ outbox })(database, [event])).rejects.toThrow('no notification');

  expect(sent).toHaveLength(1);
});
