import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { createTokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { smallTokenizer } from './smallTokenizer.ts';

const folder = ownFolder('tokenizers');
let service: RunningService;

beforeAll(async () => {
  await Promise.all(
    LAUNCH_CATALOG.map(({ id }) =>
      writeFile(join(folder, `${id}.json`), JSON.stringify(smallTokenizer)),
    ),
  );
  service = await startRunningService({
    workers: ['inflates_count'],
    apiSettings: { SVC_TOKENIZERS_DIR: folder },
  });
});

afterAll(async () => {
  await service.close();
});

const ask = (content: string) =>
  service.openai().chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content }],
  });

describe('a service with the tokenizers of its models', () => {
  it('settles an inflated claim at the tokens of the delivered text', async () => {
    const { choices, usage } = await ask('Say hello.');

    const text = choices[0]?.message.content ?? '';
    const logger = createLogger({ name: 'test', level: 'silent' });
    const tokens = await createTokenCounts({ folder, logger });
    const counted = await tokens.output(service.model.id, text);
    await tokens.close();
    expect(counted).toBeLessThan(Buffer.byteLength(text));
    expect(usage?.completion_tokens).toBe(counted);
    const [job] = await service.untilJobs(([found]) => found?.data.countedTokens === counted);
    expect(job?.data.completionTokens).toBeGreaterThan(counted);
  });

  it('refuses a prompt by its own tokens, and returns their number [models.context-window]', async () => {
    const window = service.model.contextWindowTokens;
    // Words of one letter are counted in no time; a run of letters may take too long to be counted.
    const refused = ask('q,'.repeat(window / 2));
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      error: { details: { prompt_tokens_at_least: window, context_window: window } },
    });
    expect(await service.jobs()).toHaveLength(1);
  });

  it('accepts a prompt that fits, however many bytes it has', async () => {
    const long = 'hello'.padEnd(5 + 6 * 30_000, ' world');
    expect((await ask(long)).choices[0]?.finish_reason).toBe('stop');
  });
});
