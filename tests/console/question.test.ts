import { describe, expect, it } from '@jest/globals';
import { endedAt, type Spoken } from '../../console/pages/playground/conversation.ts';
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
function ask(
  changes: Partial<Settings>,
  before: readonly Spoken[] = [],
  { prompt = 'Now' as string | null, hasTools = true } = {},
) {
  const settings = settingsOf(changes);
  const { options } = readSettings(settings, { hasTools });
  return requestOf({ prompt, before }, { ...settings, options }, { maxCredits: 2n });
}

const spoken = (prompt: string | null, text: string, more: Partial<Spoken> = {}): Spoken => ({
  ...{ prompt, answer: { text, calls: [] }, results: [] },
  ...more,
});

const TOOL = { type: 'function', function: { name: 'a_tool', parameters: { type: 'object' } } };
const toolsOf = (...functions: object[]) =>
  JSON.stringify(functions.map((one) => ({ type: 'function', function: one })));
const FORM = 'A list is needed: [{"type": "function", "function": {"name": "…"}}].';

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
      spoken('one', 'One.'),
      spoken('failed', ''),
      spoken('two', 'Two.'),
    ]);
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...['user: one', 'assistant: One.', 'user: two', 'assistant: Two.', 'user: Now'],
    ]);
  });

  it('has the calls and the results of the turns before it', () => {
    const calls = ['1', '2'].map((id) => ({ id, name: 'a_tool', arguments: `{"at":${id}` }));
    const { messages } = ask({}, [
      spoken('one', '', { answer: { text: '', calls }, results: ['', '21 °C'] }),
      spoken(null, 'Two.'),
    ]);
    const asJson = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
    expect(messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: null, tool_calls: asJson },
      { role: 'tool', content: '', tool_call_id: '1' },
      { role: 'tool', content: '21 °C', tool_call_id: '2' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Now' },
    ]);
  });

  it.each([
    ['', undefined],
    ['"required"', 'required'],
    ['{"type":"function","function":{"name":"a_tool"}}', { ...TOOL, function: { name: 'a_tool' } }],
    ['{"type":"function","function":{"name":"of_before"}}', undefined],
  ])('has its tools, and a choice that is one of them: %s', (toolChoice, choice) => {
    const settings = { tools: ` ${JSON.stringify([TOOL])}\n`, toolChoice, topP: '1' };
    const named = choice === undefined ? [] : ['tool_choice'];
    const request = ask(settings);
    expect(request).toMatchObject({ tools: [TOOL] });
    expect(request.tool_choice).toEqual(choice);
    expect(Object.keys(request).slice(3)).toEqual([...named, 'tools', 'top_p', 'max_credits']);
  });

  it.each([
    ['none', 'none'],
    ['auto', 'auto'],
    ['required', undefined],
  ])('behind results forces no call: %s', (choice, sent) => {
    const calls = [{ id: '1', name: 'a_tool', arguments: '{}' }];
    const settings = { tools: JSON.stringify([TOOL]), toolChoice: JSON.stringify(choice) };
    const called = spoken('one', '', { answer: { text: '', calls } });
    const request = ask(settings, [called], { prompt: null });
    expect(request).toMatchObject({ tools: [TOOL] });
    expect([request.tool_choice, request.messages.at(-1)?.role]).toEqual([sent, 'tool']);
  });

  it('has neither tools nor a choice where its model takes none', () => {
    const none = ['model', 'stream', 'messages', 'max_credits'];
    expect(Object.keys(ask({ tools: '[]', toolChoice: '"auto"' }))).toEqual(none);
    expect(Object.keys(ask({ tools: toolsOf({ name: 'x' }) }, [], { hasTools: false }))).toEqual(
      none,
    );
  });

  it.each<[keyof Settings, string, string]>([
    ['tokens', '0', 'A whole number, at least 1.'],
    ['temperature', '2.1', 'A number from 0 to 2.'],
    ['topP', '-1', 'A number from 0 to 1.'],
    ['seed', '9007199254740992', 'A whole number of at most 15 digits.'],
    ['stop', 'x\n'.repeat(17), 'At most 16, of 256 characters each.'],
    ['stop', 'x'.repeat(257), 'At most 16, of 256 characters each.'],
    [
      'tools',
      '{',
      "This is no JSON. Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    ],
    ['tools', '{}', FORM],
    ['tools', '[{}]', 'Tool 1: it needs "type": "function", and an object "function".'],
    ['tools', toolsOf({ name: 'a b' }), 'Tool 1: its name needs 1 to 64 letters, digits, _ or -.'],
    ['tools', toolsOf({ name: 'x' }, { name: 'x' }), 'Tool 2: another one is named x, too.'],
    [
      ...(['tools', toolsOf({ name: 'x', parameters: [] })] as const),
      'Tool 1: its parameters have to be an object: a JSON Schema.',
    ],
    [
      ...(['tools', toolsOf({ name: 'x', description: 1 })] as const),
      'Tool 1: its description has to be a text.',
    ],
    ['tools', toolsOf({ name: 'x', strict: 1 }), 'Tool 1: strict has to be true or false.'],
    ['tools', JSON.stringify(Array(129).fill(TOOL)), 'At most 128 tools.'],
    [
      ...(['tools', toolsOf({ name: 'x', parameters: { a: 'é'.repeat(32_768) } })] as const),
      'All parameters have at most 64 KiB of JSON.',
    ],
  ])('is refused at its field %s: %j', (name, value, sentence) => {
    expect(readSettings(settingsOf({ [name]: value }), { hasTools: true }).wrong).toEqual({
      [name]: sentence,
    });
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

describe('a turn that is asked again or removed', () => {
  it('takes those along that only go on from its calls', () => {
    const turns = ['one', null, null, 'two', null].map((prompt, id) => ({ id, prompt }));
    const ends = turns.map((turn) => endedAt(turns, turn.id).map(({ id }) => id));
    expect(ends).toEqual([
      ...[
        [0, 3, 4],
        [0, 1, 3, 4],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
      ],
    ]);
  });
});
