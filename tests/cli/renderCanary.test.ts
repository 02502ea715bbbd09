import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { hasPassed, renderCanary } from '../../cli/operators/canary.ts';

const worker = Keypair.generate().publicKey.toBase58();
const report = {
  ...{ model: 'qwen3-8b', seed: 7, questions: 1, silent: [] },
  workers: [
    {
      ...{
        worker,
        jobs_asked: 1,
        jobs_proven: 0,
        jobs_refused: 0,
        answers_right: 0,
      },
      ...{ tokens_claimed: 0, tokens_counted: 0, first_token_p50_ms: null, credits_charged: 0n },
      faults: ['1 of 1 not proven: worker_error'],
    },
  ],
};

describe('a canary report', () => {
  it('neither passes nor fails a worker that was full', () => {
    const [one] = report.workers;
    if (!one) throw new Error('one worker is reported');
    const full = { ...report, workers: [{ ...one, jobs_refused: 1, faults: [] }] };

    const text = renderCanary(full);

    expect(text).toContain(`${worker} was full at 1 of 1 questions: try it again.`);
    expect(text).not.toMatch(/passed|FAILED|suspend/);
    expect(hasPassed(full)).toBe(false);
    expect(hasPassed({ workers: [{ ...one, faults: [] }] })).toBe(true);
  });

  it('names another deployment in the commands for the arbiter', () => {
    const program = Keypair.generate().publicKey;
    const signing = '--signer arbiter.json';
    expect(renderCanary(report)).toMatch(
      `\nnpx svc send worker_suspend --rpc "$RPC" ${signing} worker=${worker} suspended=true`,
    );
    expect(renderCanary(report, program)).toMatch(
      `\nnpx svc send worker_suspend --rpc "$RPC" --program ${program} ${signing} worker=${worker} `,
    );
  });
});
