import { beforeAll, describe, expect, it } from '@jest/globals';
import type { SendResult } from '../../programs/client/sender/sendResult.ts';
import type { Plan } from '../../programs/client/wallet/plan.ts';

/** As a browser has it: the module listens to other tabs. */
const browser = globalThis as { addEventListener?: unknown };
const PLAN: Plan = { title: 'Buy', signer: 'wallet', instructions: [], describe: () => [] };
const LANDED = { status: 'landed', signature: 'landed', slot: 1 } as unknown as SendResult;
const EXPIRED = { status: 'expired' } as SendResult;

// By its name alone: what it says of browsers is checked with the console.
const MODULE = '../../console/ledger/pending.ts';
let pending: {
  keepPlan(signature: string, plan: Plan): void;
  planOf(signature: string): Plan | undefined;
  noteEnded(ended: object): void;
  dismissEnded(signature: string): void;
};

beforeAll(async () => {
  browser.addEventListener ??= () => undefined;
  pending = await import(MODULE);
});

const endAs = (outcome: SendResult, signature: string) => {
  pending.keepPlan(signature, PLAN);
  pending.noteEnded({ signature, wire: '', title: 'Buy', wallet: 'wallet', outcome });
};

describe('the plan of a sent transaction', () => {
  it('is kept after it expired, to sign it again, until it is dismissed', () => {
    endAs(EXPIRED, 'one');
    expect(pending.planOf('one')).toBe(PLAN);
    pending.dismissEnded('one');
    expect(pending.planOf('one')).toBeUndefined();
  });

  it('is dropped once the transaction landed', () => {
    endAs(LANDED, 'two');
    expect(pending.planOf('two')).toBeUndefined();
  });
});
