import { beforeAll, describe, expect, it } from '@jest/globals';

type Fields = Record<string, unknown>;

// By its name alone: what it says of browsers is checked with the console.
const MODULE = '../../console/verify/savedFiles.ts';
let forms: {
  takeFile(
    file: string,
    bytes: Uint8Array | undefined,
  ): { said: string; isUsed: boolean; change(fields: Fields): Fields };
  withNamed(fields: Fields, named: string): Fields;
};
beforeAll(async () => {
  forms = await import(MODULE);
});

const JOB = 'job_0199f0a2c3d47e5f8a9b0c1d2e3f4a5b';
const EMPTY: Fields = {
  ...{ named: '', wallet: '', hasText: false, text: '', receipt: '', salt: '' },
  answerDetails: '',
  ...{ answer: undefined, request: undefined, card: undefined },
};
const ANSWER = JSON.stringify({
  id: JOB.replace('job_', 'chatcmpl-job_'),
  object: 'chat.completion',
  model: 'a-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  svc: { job_id: JOB },
});
const take = (text: string | undefined, fields = EMPTY) => {
  const { said, isUsed, change } = forms.takeFile(
    'a.json',
    (text && new TextEncoder().encode(text)) || undefined,
  );
  return { said, isUsed, fields: change(fields) };
};

const HASH = '0'.repeat(64);
const HALVES = { request_commitment: HASH, answer_details: HASH, output_hash: `sha256:${HASH}` };

describe('a file that is given to Verify', () => {
  it.each([
    [1, ' 1 call of a tool is compared.'],
    [2, ' 2 calls of tools are compared.'],
  ])('is an answer whose %i calls are compared beside its text', (count, compared) => {
    const calls = Array.from({ length: count }, (_, index) => ({
      ...{ id: `call_${index}`, type: 'function', function: { name: 'f', arguments: '{}' } },
    }));
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const answer = { ...JSON.parse(ANSWER), choices };
    const { said, fields } = take(JSON.stringify({ ...answer, svc: { job_id: JOB, ...HALVES } }));
    expect(said).toBe(`a.json is the answer of ${JOB}.${compared}`);
    const held = (fields.answer as { content: { details: { toolCalls: object[] } } }).content;
    expect(held.details.toolCalls[0]).toEqual({ id: 'call_0', name: 'f', arguments: '{}' });

    const unproven = take(JSON.stringify({ ...answer, svc: null })).said;
    expect(unproven).toMatch(/It has no svc: only its job and its text are checked\.$/);
  });

  it('is an answer of responses, whose text fills the form', () => {
    const content = [{ type: 'output_text', text: 'Hello.' }];
    const { said, fields } = take(
      JSON.stringify({
        ...{ id: `resp_${JOB}`, object: 'response', status: 'completed' },
        ...{ output: [{ type: 'message', content }], svc: { job_id: JOB } },
      }),
    );
    expect(said).toBe(`a.json is the answer of ${JOB}.`);
    expect(fields).toMatchObject({ named: JOB, hasText: true, text: 'Hello.' });
  });

  it('is a request of responses, with its instructions among the messages', () => {
    const tools = [{ type: 'function', name: 'f' }];
    const { said, fields } = take(
      JSON.stringify({ model: 'a-model', instructions: 'Be brief.', input: 'Hello?', tools }),
    );
    expect(said).toBe('a.json is a request with 2 messages and 1 tool.');
    expect(fields.request).toMatchObject({
      file: 'a.json',
      content: { chat: { model: 'a-model' } },
    });
  });

  it('is an error of a job, whose text is not compared', () => {
    const { said, fields } = take(JSON.stringify({ error: {}, svc: { job_id: JOB } }));
    expect(said).toBe(`a.json is the error of ${JOB}.`);
    expect(fields).toMatchObject({ named: JOB, hasText: false });
  });

  it('is another error, of which only the job is taken', () => {
    const error = { error: { message: '<b>No worker</b>' }, id: JOB };
    const { said, isUsed, fields } = take(JSON.stringify(error));
    expect(said).toContain('It is an error, not an answer. It says: <b>No worker</b>');
    expect([isUsed, fields]).toEqual([false, { ...EMPTY, named: JOB }]);
  });

  it('changes nothing where it cannot be read, as a folder', () => {
    expect(take(undefined)).toEqual({
      ...{ said: 'a.json cannot be read.', isUsed: false, fields: EMPTY },
    });
  });
});

describe('another job than that of a saved answer', () => {
  it('is not compared with what the answer brought', () => {
    const { fields } = take(ANSWER);
    expect(forms.withNamed(fields, JOB)).toMatchObject({ text: 'Hello.' });
    const other = JOB.replace(/b$/, 'c');
    expect(forms.withNamed(fields, other)).toEqual({ ...EMPTY, named: other });
  });
});
