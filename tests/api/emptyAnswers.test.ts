import { describe, expect, it } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import { WorkerFailedError } from '../../api/workers/events.ts';
import { answer, say, type Turn } from './dispatchScene.ts';

describe('an answer without text', () => {
  const empty = 'empty_output';
  const end = { kind: 'failed', reason: empty };

  describe.each([
    [{ stop: ['a'] }],
    [{ logit_bias: { '2': 100 } }],
    [{ response_format: { type: 'json_object' } }],
    [{ chat_template_kwargs: { enable_thinking: false } }],
    [{ frequency_penalty: 2 }],
    [{ presence_penalty: -2 }],
    [{ repetition_penalty: 0 }],
    [{ tokenLimit: 1 }],
  ])('that its request can have caused: %j', (fields) => {
    const { tokenLimit, ...chat } = { tokenLimit: 2_000, ...fields };
    const asking = (...turns: Turn[]) =>
      answer([[], [], []], { workers: say(...turns), chat, tokenLimit });

    it('is asked of one more worker at most, and counts against neither', async () => {
      const { end: result, started, noted } = await asking(empty, empty, undefined);
      expect(result).toMatchObject(end);
      expect([started, noted]).toEqual([[1, 2], []]);
    });

    it('counts against none where another worker has text', async () => {
      const { delivered, noted } = await asking(empty, undefined);
      expect([delivered, noted]).toEqual([['Hello'], []]);
    });

    it('ends a stream after a thought, and counts against none', async () => {
      const { end: result, started, noted } = await asking({ thought: 'Hm.', code: empty });
      expect(result).toMatchObject(end);
      expect([started, noted]).toEqual([[1], []]);
    });
  });

  describe('whose request says nothing of its end', () => {
    const chat = { frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, top_k: 1 };
    const asking = (pool: number, ...turns: Turn[]) =>
      answer(
        Array.from({ length: pool }, () => []),
        { workers: say(...turns), chat },
      );

    it('counts against its worker where another has text', async () => {
      const { noted } = await asking(3, empty, empty, undefined);
      expect(noted).toEqual(['worker 0 failed', 'worker 1 failed']);
    });

    it.each([
      [1, 'the only worker has'],
      [2, 'both workers have'],
      [3, 'three workers have'],
      [4, 'three of four workers have'],
    ])('counts against none where %i: %s none', async (pool) => {
      const { end: result, started, noted } = await asking(pool, empty, empty, empty);
      expect(result).toMatchObject(end);
      expect(started).toHaveLength(Math.min(pool, 3));
      expect(noted).toEqual([]);
    });

    it('counts against its worker in a stream that cannot fail over', async () => {
      const thinking = { thought: 'Hm.', code: empty };
      const { end: result, noted } = await asking(2, thinking, undefined);
      expect(result).toMatchObject(end);
      expect(noted).toEqual(['worker 0 failed']);
      expect((await asking(1, thinking)).noted).toEqual([]);
    });
  });

  it('is no answer where its worker breaks off: that counts against the worker', async () => {
    const submit = async function* () {
      yield* [];
    };
    const workers = { submit } as unknown as DispatchServices['workers'];
    const { end: result, noted } = await answer([[]], { workers, chat: { stop: ['a'] } });
    expect(result).toMatchObject({ kind: 'failed', reason: 'proof_missing' });
    expect(noted).toEqual(['worker 0 failed']);
  });

  it.each([true, false])(
    'ends no other text, which breaks off (in a stream: %s)',
    async (isStream) => {
      const submit: DispatchServices['workers']['submit'] = async function* ({ attempt }) {
        if (attempt === 1) throw new WorkerFailedError(empty);
        yield [{ type: 'content', text: 'Half of' }];
        throw new WorkerFailedError('engine_failed');
      };
      const workers = { submit, stop: async () => undefined };
      const asked = answer([[], []], { workers, chat: { stop: ['a'] }, isStream });
      const { end: result, delivered, noted } = await asked;
      expect(delivered).toEqual(['Half of']);
      expect(result).toMatchObject({ kind: 'failed', reason: 'worker_error', hasBegun: true });
      expect(noted).toEqual(['worker 1 failed']);
    },
  );
});
