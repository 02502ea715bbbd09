import { describe, expect, it } from '@jest/globals';
import {
  boundsOf,
  FIRST_SETTINGS,
  priceOf,
  readSettings,
  requestOf,
  type Settings,
} from '../../console/pages/playground/question.ts';

const settingsOf = (changes: Partial<Settings>) => ({
  ...FIRST_SETTINGS,
  tokens: '',
  model: 'a-model',
  ...changes,
});

/** The request that is sent with these settings, behind these turns. */
function ask(changes: Partial<Settings>, before: readonly [prompt: string, answer: string][] = []) {
  const { model, system, ...rest } = settingsOf(changes);
  return requestOf(
    {
      prompt: 'Now',
      before: before.map(([prompt, text]) => ({ prompt, answer: { text } })),
    },
    { model, system, options: readSettings({ model, system, ...rest }).options },
    { maxCredits: 2n },
  );
}

describe('a question of the playground', () => {
  it('has every option as it was entered', () => {
    const request = ask({
      ...{ tokens: '40', system: ' Be "brief".', temperature: '0.70', topP: '1', seed: '-7' },
      stop: '\\n\\n\n\\\\ end\n',
    });
    expect(request).toEqual({
      model: 'a-model',
      stream: true,
      messages: [
        { role: 'system', content: ' Be "brief".' },
        { role: 'user', content: 'Now' },
      ],
      ...{ max_tokens: 40, seed: -7, stop: ['\n\n', '\\ end'], temperature: 0.7, top_p: 1 },
      max_credits: 2,
    });
  });

  it('leaves to the service what is empty', () => {
    expect(Object.keys(ask({}))).toEqual(['model', 'stream', 'messages', 'max_credits']);
  });

  it('comes behind the turns before it, but for those without an answer', () => {
    const { messages } = ask({}, [
      ['one', 'One.'],
      ['failed', ''],
      ['two', 'Two.'],
    ]);
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...['user: one', 'assistant: One.', 'user: two', 'assistant: Two.', 'user: Now'],
    ]);
  });

  it.each<[keyof Settings, string, string]>([
    ['tokens', '0', 'A whole number, at least 1.'],
    ['temperature', '2.1', 'A number from 0 to 2.'],
    ['topP', '-1', 'A number from 0 to 1.'],
    ['seed', '9007199254740992', 'A whole number of at most 15 digits.'],
    ['stop', 'x\n'.repeat(17), 'At most 16, of 256 characters each.'],
    ['stop', 'x'.repeat(257), 'At most 16, of 256 characters each.'],
  ])('is refused at its field %s: %j', (name, value, sentence) => {
    expect(readSettings(settingsOf({ [name]: value })).wrong).toEqual({ [name]: sentence });
  });

  it('locks for its limit, or for what costs no more than a request', () => {
    const svc = {
      credits_per_request: 2,
      credits_per_1k_tokens: 1,
      long_completion_threshold: 500,
    };
    const price = priceOf({ svc } as Parameters<typeof priceOf>[0]);
    const locks = [1, 500, 501, 12_345, undefined].map((limit) => boundsOf(price, limit).locked);
    expect(locks).toEqual([2n, 2n, 2n, 13n, 2n]);
  });
});
