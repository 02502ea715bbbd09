import { describe, expect, it } from '@jest/globals';
import type { UnprovenResult } from '../../api/jobs/attempt.ts';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import { isStopped } from '../../api/jobs/emptyAnswers.ts';
import { answer, type Turn } from './dispatchScene.ts';

const EMPTY: Turn = { code: 'empty_output' };
const EMPTY_AFTER_THOUGHT: Turn = { ...EMPTY, thought: 'Hm.' };
const end = { kind: 'failed', reason: 'empty_output' };
const TOOL = { type: 'function', function: { name: 'look_up' } };
/** Its model called no tool of the request, or none though it had to. */
const AMISS: Turn = { code: 'upstream_failed' };

describe('an answer without text', () => {
  it.each([
    [{ stop: ['a'] }],
    [{ logit_bias: { '2': 100 } }],
    [{ response_format: { type: 'json_object' } }],
    [{ chat_template_kwargs: { enable_thinking: false } }],
    [{ tools: [TOOL] }],
    [{ frequency_penalty: 2 }],
    [{ presence_penalty: -2 }],
    [{ repetition_penalty: 0 }],
    [{ tokenLimit: 1 }],
  ])('that its request can have caused counts against none: %j', async (fields) => {
    const { tokenLimit, ...chat } = { tokenLimit: 2_000, ...fields };
    const asking = (...turns: Turn[]) => answer(turns, { chat, tokenLimit });
    // One more worker is asked at most, and none after a thought in a stream.
    const both = await asking(EMPTY, EMPTY, 'Hello');
    expect(both).toMatchObject({ end, started: [1, 2], noted: [] });
    expect(await asking(EMPTY, 'Hello')).toMatchObject({ delivered: ['Hello'], noted: [] });
    const one = await asking(EMPTY_AFTER_THOUGHT, 'Hello');
    expect(one).toMatchObject({ end, started: [1], noted: [] });
  });

  const noted = ['worker 0 failed'];
  it.each<[string, Turn[], object]>([
    ['the only worker has none', [EMPTY], { end, started: [1], noted: [] }],
    ['both workers have none', [EMPTY, EMPTY], { end, started: [1, 2], noted: [] }],
    ['three have none', [EMPTY, EMPTY, EMPTY], { end, started: [1, 2, 3], noted: [] }],
    ['three of four have none', [EMPTY, EMPTY, EMPTY, EMPTY], { end, noted: [] }],
    [
      'the third has text',
      [EMPTY, EMPTY, 'Hello'],
      { end: undefined, noted: ['worker 0 failed', 'worker 1 failed'] },
    ],
    [
      'a stream had a thought, and another is there',
      [EMPTY_AFTER_THOUGHT, 'Hello'],
      { end, noted },
    ],
    ['a stream had a thought, of the only worker', [EMPTY_AFTER_THOUGHT], { end, noted: [] }],
  ])(
    'to any other request counts against who is alone with it: %s',
    async (_what, turns, outcome) => {
      const chat = { frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, top_k: 1 };
      expect(await answer(turns, { chat })).toMatchObject(outcome);
    },
  );

  it('that is a call amiss is the request’s, which one more worker is asked', async () => {
    const chat = { tools: [TOOL], stop: ['a'] };
    const both = await answer([AMISS, AMISS, 'Hello'], { chat });
    expect(both).toMatchObject({ end: { ...end, cause: 'upstream_failed' }, started: [1, 2] });
    expect(both.noted).toEqual([]);
    // The client's stop sequence is not why.
    expect(isStopped(both.end as UnprovenResult, chat)).toBe(false);
    expect(await answer([AMISS, 'Hello'], { chat })).toMatchObject({ noted: [], end: undefined });
    // Without tools, and behind a thought that was read, it is the worker's.
    const theirs = { kind: 'failed', reason: 'worker_error' };
    const other = await answer([AMISS], { chat: { stop: ['a'] } });
    expect(other).toMatchObject({ end: theirs, noted: ['worker 0 failed'] });
    const late = await answer([{ ...AMISS, thought: 'Hm.' }, 'Hello'], { chat });
    expect(late).toMatchObject({ end: theirs, started: [1], noted: ['worker 0 failed'] });
  });

  it('is no answer where its worker breaks off: that counts against the worker', async () => {
    const submit = async function* () {
      yield* [];
    };
    const workers = { submit } as unknown as DispatchServices['workers'];
    expect(await answer([{}], { workers, chat: { stop: ['a'] } })).toMatchObject({
      ...{ end: { kind: 'failed', reason: 'proof_missing' }, noted },
    });
  });

  it.each([true, false])(
    'ends no other text, which breaks off (in a stream: %s)',
    async (isStream) => {
      const turns = [EMPTY, { texts: ['Half of'] }];
      expect(await answer(turns, { chat: { stop: ['a'] }, isStream })).toMatchObject({
        end: { kind: 'failed', reason: 'worker_error', hasBegun: true },
        ...{ delivered: ['Half of'], noted: ['worker 1 failed'] },
      });
    },
  );
});
