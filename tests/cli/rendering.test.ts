import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { hasPassed, renderCanary } from '../../cli/operators/canary.ts';
import { renderRows } from '../../cli/terminal/output.ts';

const worker = Keypair.generate().publicKey.toBase58();
const counted = {
  ...{ worker, jobs_asked: 1, jobs_proven: 0, jobs_refused: 0, answers_right: 0 },
  ...{ formats_judged: 0, formats_kept: 0, tools_judged: 0, tools_called: 0 },
  ...{ tokens_claimed: 0, tokens_counted: 0, first_token_p50_ms: null, credits_charged: 0n },
};
const reportOf = (jobs_refused: number, faults: string[]) => ({
  ...{ model: 'qwen3-8b', seed: 7, questions: 1, silent: [] },
  workers: [{ ...counted, jobs_refused, faults }],
});

describe('a canary report', () => {
  it('neither passes nor fails a worker that was full', () => {
    const full = reportOf(1, []);
    const text = renderCanary(full);
    expect(text).toContain(`${worker} was full at 1 of 1 questions: try it again.`);
    expect(text).not.toMatch(/passed|FAILED|suspend/);
    expect([hasPassed(full), hasPassed(reportOf(0, []))]).toEqual([false, true]);
  });

  it('names another deployment in the command for the arbiter', () => {
    const program = Keypair.generate().publicKey;
    const failed = reportOf(0, ['1 of 1 not proven: worker_error']);
    const command = 'npx svc send worker_suspend --rpc "$RPC"';
    const signed = `--signer arbiter.json worker=${worker} suspended=true`;
    expect(renderCanary(failed)).toContain(`${command} ${signed}`);
    expect(renderCanary(failed, program)).toContain(`${command} --program ${program} ${signed}`);
  });
});

describe('a table of rows', () => {
  it('has a header for each 1,000 rows, and every row once and in order', () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => [`row ${at}.`, 'x']);
    const render = (count: number) => renderRows(['first', 'second'], rows(count));
    const heads = [0, 1_000, 2_500].map((count) => render(count).match(/first/g)?.length);
    expect(heads).toEqual([1, 1, 3]);
    expect(render(2_500).match(/row \d+\./g)).toEqual(rows(2_500).map(([name]) => name));
  });
});
