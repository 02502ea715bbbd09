import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { parseJson } from '../../programs/client/parseJson.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { sha256 } from '../../programs/client/platform/node.ts';
import {
  canonicalJson,
  type Json,
  requestCommitment,
  verifyHashed,
} from '../../programs/client/proof.ts';
import { answerDetails } from '../../programs/client/statement.ts';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createRandom } from '../../testing/random.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';
import { createKinds } from '../programs/support/signatures/kinds.ts';
import { createSigners } from '../programs/support/signatures/signers.ts';
import { drawAsked } from './pythonRequests.ts';
import { runInPython, verifyInPython } from './runInPython.ts';

const random = createRandom();
const COUNT = 1_000;
const REFUSED = { refused: true };

const folder = ownFolder('svc-python');

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

const title = `the Python file (seed ${random.seed})`;
needs('python3-cryptography').describe(title, () => {
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

  it('makes of a body what a worker is given', async () => {
    const cases = Array.from({ length: COUNT }, () => {
      const { body, given } = drawAsked(random);
      const token_limit = 1 + random.below(9_000);
      const salt = random.bytes(32);
      const commitment = requestCommitment(salt, { ...given, token_limit });
      return {
        input: { request: body, salt: bytesToHex(salt), token_limit },
        expected: { commitment: bytesToHex(commitment) },
      };
    });
    const withTools = cases.filter(({ input }) => input.request.includes('tool_0'));
    expect(withTools.length).toBeGreaterThan(COUNT / 4);
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
      const details = bytesToHex(answerDetails(TEXT_ALONE));
      return {
        input: { saved },
        expected: at < taken ? { job_id, text: 'Yes.', ...nothing, details } : REFUSED,
      };
    });
    expect(await run('answer', cases)).toEqual(asExpected(cases.length));
  }

  it('takes as many trailers as the client, and refuses one character more', async () => {
    const trailers = (length: number) => `${answer}\nx:${'😀'.repeat(9)}${'y'.repeat(length - 20)}`;
    await readAlike([trailers(65_536), trailers(65_537)], 1);
  });

  it('takes a million parts as the client does, and refuses one more', async () => {
    const parts = (count: number) => `${'{}'.repeat(count - 1)}${answer}`;
    const items = (count: number) => `[${'0,'.repeat(count - 1)}${answer}]`;
    await readAlike([parts(200_000), items(1_000_000), items(1_000_001)], 2);
  });

  it('reads a file of many headers, and one of long texts, as the client does', async () => {
    const headers = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200_000);
    const long = JSON.stringify({ note: 'a\\"'.repeat(1_000_000) });
    await readAlike([`${headers}${answer}`, `${long}\n${answer}`, `${long.slice(0, -1)}`], 2);
  });

  it('reads millions of small lists and objects in seconds', async () => {
    const lists = `[${'[],'.repeat(1_500_000)}0]`;
    await readAlike([lists, '[]'.repeat(400_000), `[${'{"a":1},'.repeat(300_000)}0]`], 0);
  }, 60_000);

  it('names the line that installs what it needs', async () => {
    mkdirSync(join(folder, 'cryptography'));
    writeFileSync(join(folder, 'cryptography/__init__.py'), 'raise ImportError("No cryptography")');
    const { code, output } = await verifyInPython(['--help'], { PYTHONPATH: folder });
    const line = 'error: No cryptography. Install it: python3 -m pip install cryptography\n';
    expect([code, output]).toEqual([1, line]);
  });

  it('refuses a hundred thousand levels of JSON', async () => {
    const json = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const found = await run('canonical_json', [{ input: { json }, expected: REFUSED }]);
    expect(found).toEqual(asExpected(1));
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
