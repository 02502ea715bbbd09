import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { sha256 } from '../../programs/client/platform/crypto.node.ts';
import {
  canonicalJson,
  type Json,
  parseJson,
  requestCommitment,
  verifyHashed,
} from '../../programs/client/proof.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { SavedFileError } from '../../programs/client/verify/answer/savedFile.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { createRandom } from '../../testing/random.ts';
import { createKinds } from '../programs/support/signatures/kinds.ts';
import { createSigners } from '../programs/support/signatures/signers.ts';
import { publishedLayouts, pythonLayouts } from './pythonLayouts.ts';
import { drawBody, givenToWorker } from './pythonRequests.ts';
import { PYTHON, runInPython, VERIFIER } from './runInPython.ts';

const random = createRandom();
const COUNT = 1_000;
const REFUSED = { refused: true };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-python-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs cases of one kind through the Python file, in one process. */
function run(kind: string, cases: readonly { input: unknown; expected: unknown }[]) {
  const path = join(folder, `${kind}.json`);
  const named = cases.map((one, at) => ({ kind, name: String(at + 1), ...one }));
  writeFileSync(path, JSON.stringify({ program_id: PROGRAM_ID, nodes: {}, cases: named }));
  return runInPython(path);
}

const asExpected = (count: number) => ({
  code: 0,
  output: `${count} of ${count} cases as expected.\n`,
});

function resultOf<Result>(compute: () => Result): Result | typeof REFUSED {
  try {
    return compute();
  } catch {
    return REFUSED;
  }
}

it('has the layouts of the published interface in the Python file', () => {
  const found = pythonLayouts(readFileSync(VERIFIER, 'utf8'));
  expect(found).toEqual(publishedLayouts());
  expect(Object.keys(found)).toEqual(Object.keys(publishedLayouts()));
});

const title = `the Python file (seed ${random.seed})`;
if (!PYTHON.isReady) {
  it.skip(`${title} judges as the client does (NOT CHECKED: ${PYTHON.reason})`, () => undefined);
}

(PYTHON.isReady ? describe : describe.skip)(title, () => {
  it(`takes and refuses the signatures that the client does, ${COUNT} of all kinds`, async () => {
    const message = (commitment: Uint8Array) => sha256(commitment);
    const kinds = Object.values(createKinds(createSigners(random, (one) => sha256(message(one)))));
    const cases = Array.from({ length: COUNT }, (_, at) => {
      const kind = kinds[at % kinds.length] as (typeof kinds)[number];
      const { key, commitment, signature } = kind.make(random.below(kind.variants));
      const publicKey = new PublicKey(key);
      const signed = { publicKey, message: message(commitment), signature };
      return {
        input: {
          public_key: publicKey.toBase58(),
          message: bytesToHex(signed.message),
          signature: bytesToHex(signature),
        },
        expected: { holds: verifyHashed(signed) },
      };
    });
    expect(cases.filter(({ expected }) => expected.holds).length).toBeGreaterThan(100);
    expect(cases.filter(({ expected }) => !expected.holds).length).toBeGreaterThan(500);
    expect(await run('signature', cases)).toEqual(asExpected(COUNT));
  });

  it(`writes canonical JSON as the client does, of ${COUNT} doubles and texts`, async () => {
    const cases = Array.from({ length: COUNT }, () => {
      const json = drawJson();
      const compute = () => ({ canonical: canonicalJson(parseJson(json) as Json) });
      return { input: { json }, expected: resultOf(compute) };
    });
    expect(cases.filter(({ expected }) => 'canonical' in expected).length).toBeGreaterThan(200);
    expect(cases.filter(({ expected }) => 'refused' in expected).length).toBeGreaterThan(50);
    expect(await run('canonical_json', cases)).toEqual(asExpected(COUNT));
  });

  it('makes of a body what the API gives to a worker', async () => {
    const cases = Array.from({ length: COUNT }, () => {
      const body = drawBody(random);
      const token_limit = 1 + random.below(9_000);
      const salt = random.bytes(32);
      const commitment = requestCommitment(salt, { ...givenToWorker(body), token_limit });
      return {
        input: { request: body, salt: bytesToHex(salt), token_limit },
        expected: { commitment: bytesToHex(commitment) },
      };
    });
    expect(await run('request', cases)).toEqual(asExpected(COUNT));
  });

  const job_id = 'job_01a1fd5d5d467000a1b2d1b31219e46b';
  const choices = [{ message: { content: 'Yes.' }, finish_reason: 'stop' }];
  const answer = JSON.stringify({ id: `chatcmpl-${job_id}`, choices });

  /** Reads answers in Python as the client does, which must take so many of the first ones. */
  async function readAlike(forms: readonly string[], taken: number): Promise<void> {
    const cases = forms.map((saved, at) => {
      const ours = resultOf(() => ({ job_id: readAnswer(saved).jobId }));
      expect([at, ours]).toEqual([at, at < taken ? { job_id } : REFUSED]);
      const nothing = { wallet: null, request_salt: null, delivery_receipt: null };
      return {
        input: { saved },
        expected: at < taken ? { job_id, text: 'Yes.', ...nothing } : REFUSED,
      };
    });
    expect(await run('answer', cases)).toEqual(asExpected(cases.length));
  }

  it('takes as many trailers and levels as the client, and refuses one more', async () => {
    const nested = (levels: number) =>
      answer.replace('{', `{"z":${'['.repeat(levels)}${']'.repeat(levels)},`);
    const trailers = (length: number) => `${answer}\nx:${'😀'.repeat(9)}${'y'.repeat(length - 20)}`;
    await readAlike([nested(511), trailers(65_536), nested(512), trailers(65_537)], 2);
  });

  it('takes a million parts as the client does, and refuses one more', async () => {
    const parts = (count: number) => `${'{}'.repeat(count - 1)}${answer}`;
    const items = (count: number) => `[${'0,'.repeat(count - 1)}${answer}]`;
    await readAlike([parts(200_000), items(1_000_000), items(1_000_001)], 2);
  });

  it('takes for the end of a stream what the client takes, and no more', async () => {
    const chunk = answer.replace('message', 'delta');
    const stream = (end: string) => `data: ${chunk}\n\ndata: ${end}\n\n`;
    const spaces = ['', ' ', '\ufeff', '\u00a0', '\u001c', '\u0085'];
    const ends = spaces.map((space) => stream(`[DONE]${space}`));
    await readAlike(ends, 4);
  });

  it('refuses what some clients read otherwise than others, as the client does', async () => {
    const chunk = (delta: object, finish_reason?: string) =>
      JSON.stringify({ id: job_id, choices: [{ delta, finish_reason }] });
    const whole = chunk({ content: 'Yes.' }, 'stop');
    const end = 'data: [DONE]\n\n';
    const taken = [
      `event: ping\ndata: {"a":1}\n\nevent: note\ndata: {not JSON\n\ndata: ${whole}\n\n${end}${end}`,
      `metadata: x\nx data: y\n: data\n\ndata: ${whole}\n\n`,
      `data: ${whole}\n\ndata: {"choices":null}\n\ndata: ${chunk({ content: '' })}\n\n`,
      `data: ${chunk({ content: 'Yes.', refusal: '', tool_calls: [], audio: null }, 'stop')}\n\n`,
      `data: ${chunk({ content: 'Ye' }, '')}\n\ndata: ${chunk({ content: 's.' }, 'stop')}\n\n`,
      `${chunk({ function_call: { name: '', arguments: '' }, audio: {} })}\n${whole}\n[DONE]\n`,
      ` \n\r\n HTTP/1.1 200 OK\r\n\r\n\n\ndata: ${whole}`,
      ` \n HTTP/1.1 200 OK\n\n \ufeff ${answer}`,
    ];
    const refused = [
      `event: ping\ndata: ${whole}\n\ndata: ${whole}\n\n`,
      `event: ping\ndata: []\n\ndata: ${whole}\n\n`,
      `data: [${whole}]\n\n`,
      ...[' data: x', 'DATA: x', '\ufeffData :', '"data":', '\u0085data\u2028:'].map(
        (line) => `data: ${whole}\n\n${line}\n\n`,
      ),
      ` data: ${whole}\n\n`,
      `data: ${whole}\n\n${end}data: ${whole}\n\n`,
      `data: ${whole}\n\n${end}data:\n\n`,
      `data: ${whole}\n\ndata: ${chunk({ content: ' No.' })}\n\n`,
      `data: ${whole}\n\ndata: {"choices":{}}\n\n`,
      ...[
        { refusal: 'No.' },
        { tool_calls: [{}] },
        { function_call: { name: 'f' } },
        { audio: 0 },
      ].map((more) => `data: ${chunk(more)}\n\ndata: ${whole}\n\n`),
      answer.replace('"content"', '"audio":false,"content"'),
      `data: ${chunk({ content: 'Yes.' }, '')}\n\n`,
      `event: error\ndata: {"error":{}}\n\ndata: ${whole}\n\n`,
      `event: x\ndata: ${'['.repeat(3_000)}\n\ndata: ${whole}\n\n`,
      `event: x\ndata: {"\\u0061":${'['.repeat(3_000)}${']'.repeat(3_000)}}\n\ndata: ${whole}\n\n`,
      `${whole}\n[DONE]\n${whole}`,
    ];
    await readAlike([...taken, ...refused], taken.length);
  });

  it('reads a file of many headers, and one of long texts, as the client does', async () => {
    const headers = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200_000);
    const long = JSON.stringify({ note: 'a\\"'.repeat(2_000_000) });
    await readAlike([`${headers}${answer}`, `${long}\n${answer}`, `${long.slice(0, -1)}`], 2);
  });

  it('reads a body as deep as the client does, and none that is deeper', async () => {
    const salt = random.bytes(32);
    const cases = [511, 512].map((levels) => {
      const inner = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      const request = `{"model":"m","messages":[],"chat_template_kwargs":${inner}}`;
      const compute = () => ({
        commitment: bytesToHex(
          requestCommitment(salt, { ...readRequest(request).chat, token_limit: 9 }),
        ),
      });
      const expected = resultOf(compute);
      expect(expected === REFUSED).toBe(levels > 511);
      return { input: { request, salt: bytesToHex(salt), token_limit: 9 }, expected };
    });
    expect(await run('request', cases)).toEqual(asExpected(cases.length));
  });

  it('takes as many levels of canonical JSON as the client, and no more', async () => {
    const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
    const cases = [510, 512, 514, 100_000].map((levels) => {
      const json = nested(levels);
      const ours = resultOf(() => ({ canonical: canonicalJson(parseJson(json) as Json) }));
      expect(ours).toEqual(levels <= 512 ? { canonical: json } : REFUSED);
      return { input: { json }, expected: ours };
    });
    expect(await run('canonical_json', cases)).toEqual(asExpected(cases.length));
  });

  it('refuses a message without a role or a text, as the client does', async () => {
    const role = 'user';
    const messages = [
      ...['x', null, { content: 'x' }, { role: 5, content: 'x' }, { role, content: 5 }],
      ...[true, {}, ['x'], [{ type: 'text' }], [{ type: 'refusal', text: 'x' }], [{ text: 5 }]].map(
        (content) => ({ role, content }),
      ),
      { role, refusal: 5 },
    ];
    const cases = messages.map((message) => {
      const request = JSON.stringify({ model: 'm', messages: [message] });
      expect(() => readRequest(request)).toThrow(SavedFileError);
      return { input: { request, salt: '00'.repeat(32), token_limit: 1 }, expected: REFUSED };
    });
    expect(await run('request', cases)).toEqual(asExpected(cases.length));
  });

  it('refuses a wallet that has not 32 bytes', async () => {
    const wallet = PublicKey.default.toBase58().slice(1);
    const cases = [{ input: { job_id, wallet }, expected: REFUSED }];
    expect(await run('job_id', cases)).toEqual(asExpected(1));
  });

  it('names each case that differs, and ends with another exit code', async () => {
    const right = { input: { json: '1.0' }, expected: { canonical: '1' } };
    const wrong = { input: { json: '1.0' }, expected: { canonical: '1.0' } };
    const { code, output } = await run('canonical_json', [right, wrong]);
    expect(code).toBe(1);
    expect(output).toMatch(/^DIFFERS: canonical_json: 2: .+\n1 of 2 cases as expected\.\n$/);
    expect(await run('canonical_json', [])).toMatchObject({ code: 1 });
  });
});

/** A double by its bits or its digits, in a spelling of its own, or a text of any units. */
function drawJson(): string {
  const view = new DataView(random.bytes(8).buffer);
  switch (random.below(5)) {
    case 0: {
      const number = view.getFloat64(0);
      return Number.isFinite(number) ? JSON.stringify(number) : '-0.0';
    }
    case 1: {
      const digits = String(random.below(2 ** 32)).repeat(1 + random.below(2));
      return `${'-'.repeat(random.below(2))}${random.below(100)}.${digits}e${random.below(60) - 40}`;
    }
    case 2:
      return `[${random.below(2 ** 32) * 2 ** random.below(26)}, ${random.below(9)}E+${random.below(16)}]`;
    case 3: {
      const units = Array.from({ length: 1 + random.below(4) }, () =>
        view.getUint16(random.below(7)),
      );
      return JSON.stringify({ [String.fromCharCode(...units)]: 1, '￿': 2, '😀': 3 });
    }
    default: {
      const unit = (0xd7f0 + random.below(0x900)).toString(16);
      return `"\\u${unit}\\u${(0xdbf0 + random.below(0x420)).toString(16)}"`;
    }
  }
}
