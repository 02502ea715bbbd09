import { randomBytes } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { API_ROLE, INDEXER_ROLE } from '../../indexer/sql/roles.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { needs } from '../../testing/machine/needs.ts';
import { readCompose } from './composeFile.ts';
import { openPlainFolders } from './plainFolders.ts';

// Assembling the image takes minutes: deploy/image/check.sh does it, and runs this with its folder.
const { IMAGE_FOLDER, IMAGE_NODE } = process.env;
/** Of other images, or of no use without containers: this test stands in for them. */
const GIVEN = ['network', 'postgres'];

jest.setTimeout(600_000);

needs('an assembled image', 'caddy', 'setpriv').describe(
  "the compose files' services in plain folders",
  () => {
    it('start as their commands say, and serve a job that svc verify accepts', async () => {
      const beganAtMs = performance.now();
      const file = readCompose('compose.yaml', 'compose.local.yaml');
      const database = await createTestDatabase({ isEmpty: true });
      const folders = await openPlainFolders({
        file,
        imageFolder: String(IMAGE_FOLDER),
        node: String(IMAGE_NODE),
        given: new Set(GIVEN),
      });
      let ends: Record<string, number | null> = {};
      try {
        await folders.start('settings');
        folders.writeSecret('DATABASE_URL', database.databaseUrl);
        for (const [secret, user] of [
          ['DATABASE_URL_INDEXER', INDEXER_ROLE],
          ['DATABASE_URL_API', API_ROLE],
        ] as const) {
          const url = new URL(database.databaseUrl);
          Object.assign(url, { username: user, password: randomBytes(16).toString('hex') });
          folders.writeSecret(secret, url.href);
        }
        await Promise.all(Object.keys(file.services).map(folders.start));
        const roles = await Promise.all(
          ['8081', '8082'].map(async (port) => {
            const metrics = await fetch(folders.translate(`http://127.0.0.1:${port}/metrics`));
            return /svc_indexer_role\{role="(\w+)"\} 1/.exec(await metrics.text())?.[1];
          }),
        );
        expect(roles.sort()).toEqual(['leader', 'standby']);

        const wallet = (await folders.execute('settings', ['cat', '/secrets/SVC_WALLET'])).trim();
        const svc = (...words: string[]) =>
          folders.execute('api-1', ['node', 'cli/main.ts', ...words]);
        const created = await svc('keys', 'create', '--wallet', wallet);
        const apiKey = /svc_live_\w+/.exec(created)?.[0] ?? '';
        const client = new OpenAI({
          baseURL: folders.translate('http://127.0.0.1:8000/v1'),
          apiKey,
        });
        const { data, response } = await client.chat.completions
          .create({
            model: 'llama-3.2-3b-instruct',
            messages: [{ role: 'user', content: 'Say hello.' }],
          })
          .withResponse();
        expect(data.choices[0]?.finish_reason).toBe('stop');
        const jobId = response.headers.get('x-svc-job-id') ?? '';
        const verified = await svc('verify', jobId, '--rpc', 'http://127.0.0.1:8899');
        expect(verified).toContain('Everything that applies holds.');
        const seconds = Math.round((performance.now() - beganAtMs) / 1_000);
        process.stderr.write(`The services are up, and a job is verified, after ${seconds} s.\n`);
      } finally {
        ends = await folders.stop();
        await database.close();
      }
      expect(new Set(Object.values(ends))).toEqual(new Set([0]));
      expect(Object.keys(ends)).toHaveLength(7);
    });
  },
);
