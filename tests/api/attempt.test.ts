import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { runAttempt, type WholeAnswer } from '../../api/completion/attempt.ts';
import { createRace } from '../../api/completion/race.ts';
import { proofMessage, sign } from '../../programs/client/proof.ts';

const TEXT = 'Hello.';
const key = () => Keypair.generate().publicKey;
const programId = key();
const job = key();
const worker = key();
const proofKey = Keypair.generate();

/** What the worker of the slot proves of a text, and signs with this key. */
function proofOf(text: string, signer = proofKey) {
  const proven = {
    outputHash: createHash('sha256').update(text).digest(),
    promptTokens: 1,
    completionTokens: 2,
  };
  const message = proofMessage({ programId, job, worker, attempt: 1, ...proven });
  return { ...proven, signature: sign(message, signer) };
}

/** How an attempt ends whose worker sends this text with that proof. */
function attempt(
  proof: ReturnType<typeof proofOf>,
  other: { text?: string; onWhole?: (answer: WholeAnswer) => Promise<void> } = {},
) {
  const { text = TEXT, onWhole = async () => undefined } = other;
  async function* ask() {
    yield [...(text ? [{ type: 'content', text }] : []), { type: 'proof', proof }];
  }
  return runAttempt({
    slot: {
      worker: { address: worker.toBase58(), proof_key: proofKey.publicKey.toBase58() },
    },
    task: { jobAddress: job, attempt: 1, tokenLimit: 10 },
    programId,
    workers: { ask },
    clock: { nowSeconds: () => 0n, waitUntil: () => new Promise(() => undefined) },
    deadlines: { stopAt: 1n, proofDueAt: 1n },
    runner: createRace().enter(),
    clientGone: new AbortController().signal,
    onContent: () => undefined,
    onFirstToken: () => undefined,
    onWhole,
  } as unknown as Parameters<typeof runAttempt>[0]);
}

describe('a whole answer', () => {
  const answer = { text: TEXT, finishReason: 'stop', attempt: 1 };

  it('is proven when its worker has signed its hash', async () => {
    const proof = proofOf(TEXT);
    expect(await attempt(proof)).toMatchObject({ kind: 'proven', answer: { ...answer, proof } });
  });

  it.each([
    ['another has signed', proofOf(TEXT, Keypair.generate()), 'proof_invalid'],
    ['is of another text', proofOf('Good morning.'), 'output_mismatch'],
  ])('fails when its proof %s', async (_how, proof, reason) => {
    expect(await attempt(proof)).toMatchObject({ kind: 'failed', reason, hasContent: true });
  });

  it('without any text is none', async () => {
    expect(await attempt(proofOf(''), { text: '' })).toMatchObject({
      ...{ kind: 'failed', reason: 'empty_output', hasContent: false },
    });
  });

  it.each([
    ['proven', proofOf(TEXT)],
    ['failed', proofOf(TEXT, Keypair.generate())],
  ])('is announced before its signature is checked: %s', async (kind, proof) => {
    const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
    const announced: WholeAnswer[] = [];
    let ended = false;
    const ending = attempt(proof, {
      onWhole: (whole) => {
        announced.push(whole);
        return begun;
      },
    }).finally(() => {
      ended = true;
    });
    await new Promise((resolve) => void setImmediate(resolve));
    expect({ announced, ended }).toMatchObject({ announced: [answer], ended: false });
    hasBegun();
    expect(await ending).toMatchObject({ kind });
  });

  it('is not announced when its proof is of another text', async () => {
    const announced: WholeAnswer[] = [];
    await attempt(proofOf('Good morning.'), {
      onWhole: async (whole) => void announced.push(whole),
    });
    expect(announced).toEqual([]);
  });
});
