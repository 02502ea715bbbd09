import { readFileSync } from 'node:fs';
import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createStory } from '../../../testing/story.ts';
import { describeInBrowser, type OpenPage, type PageScene } from './pageScene.ts';

const NAME = 'get_weather_of_a_place_whose_name_is_as_long_as_names_may_be_64c';
const PARAMETERS = {
  type: 'object',
  properties: { days: { type: 'integer', minimum: 3, maximum: 3 } },
  required: ['days'],
  additionalProperties: false,
};
const TOOLS = [{ type: 'function', function: { name: NAME, parameters: PARAMETERS } }];
const WIDTHS = [390, 1_280];

describeInBrowser('tools in the web app', (openScene) => {
  const it = createStory();
  let scene: PageScene;
  let opened: OpenPage;
  let page: Page;
  /** As it was saved. */
  const saved: { name: string; buffer: Buffer }[] = [];

  beforeAll(async () => {
    scene = await openScene({ SVC_PREVIEW: 'tools' });
    opened = await scene.openAs('wallet', '/console/playground');
    page = opened.page;
  });

  const turn = (number: number) => page.getByRole('article', { name: `Turn ${number}` });
  const press = (name: string, number: number) =>
    turn(number).getByRole('button', { name, exact: true }).click();
  const messages = async (action: Promise<void>) => {
    const [asked] = await Promise.all([
      page.waitForRequest(/\/console\/api\/chat\/completions$/),
      action,
    ]);
    return JSON.parse(asked.postData() ?? '').messages;
  };
  const expectInside = async (at: Page) => {
    for (const width of WIDTHS) {
      await at.setViewportSize({ width, height: 900 });
      expect(await at.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
  };

  it('shows a call with its arguments, which are compared with the proof', async () => {
    await page.getByLabel('Tools', { exact: true }).fill('[{}]');
    await page.getByText('Tool 1: it needs "type": "function"').waitFor();
    await page.getByLabel('Tools', { exact: true }).fill(JSON.stringify(TOOLS));
    await page.getByLabel('Choice of a tool').selectOption('required');
    await page.getByLabel('Message', { exact: true }).fill('How is the weather?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await press('Verify this answer', 1);

    await turn(1).getByRole('heading', { name: 'The job holds' }).waitFor();
    const checks = turn(1).getByRole('region', { name: 'Checks: delivery' });
    expect(await checks.locator('code').allTextContents()).toContain('delivery.details');
    const call = turn(1).getByRole('region', { name: `Call 1 of ${NAME}` });
    expect(await call.locator('pre').textContent()).toBe('{\n  "days": 3\n}');
    await expectInside(page);
  });

  it('goes on with the result, and forces no other call', async () => {
    await page.getByLabel('Result of call 1').fill('21 °C');
    const sent = await messages(press('Send the result', 1));
    await turn(2).getByRole('button', { name: 'Verify this answer' }).waitFor();

    const { id } = sent[1].tool_calls[0];
    const called = { name: NAME, arguments: '{"days":3}' };
    expect(sent.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: called }],
      },
      { role: 'tool', content: '21 °C', tool_call_id: id },
    ]);
    expect(await turn(2).getByText('The results of the calls above.').count()).toBe(1);
    expect(await turn(2).getByRole('region', { name: /^Call/ }).count()).toBe(0);
  });

  it('saves the answer and its request, and ends what its call led to', async () => {
    for (const name of ['Save this answer', 'Save its request']) {
      const [download] = await Promise.all([page.waitForEvent('download'), press(name, 1)]);
      const buffer = readFileSync(await download.path());
      saved.push({ name: download.suggestedFilename(), buffer });
    }
    expect(await messages(press('Repeat', 1))).toHaveLength(1);
    await turn(1).getByRole('button', { name: 'Send the result' }).waitFor();
    expect(await page.getByRole('article').count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  it('compares the call and the question of saved files', async () => {
    const { page: verify, complaints } = await scene.open('/verify');
    await verify.getByRole('button', { name: 'Choose files' }).waitFor();
    const files = saved.map((file) => ({ ...file, mimeType: 'text/plain' }));
    await verify.locator('input[type=file]').setInputFiles(files);
    await verify.getByText(/1 call of a tool is compared\.$/).waitFor();
    await verify.getByText(/is a request with 1 message and 1 tool\.$/).waitFor();
    await verify.getByRole('region', { name: `Call 1 of ${NAME}` }).waitFor();
    await verify.getByRole('button', { name: 'Verify', exact: true }).click();

    await verify.getByRole('heading', { name: 'The job holds' }).waitFor();
    await expectInside(verify);
    expect(complaints).toEqual([]);
  });

  it('says on the Job page that calls were proven, and shows none', async () => {
    const job = saved[0]?.name.replace('.sse', '');
    const { page: jobs } = await scene.openAs('wallet', `/console/jobs/${job}`);
    await jobs.getByText('The ledger has the hash that binds them, and not the calls.').waitFor();
  });
});
