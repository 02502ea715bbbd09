import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  createDeliveryLimits,
  type DeliveryLimits,
} from '../../../indexer/webhooks/deliver/deliveryLimits.ts';

const TEN_SECONDS_MS = 10_000;

let nowMs: number;
let limits: DeliveryLimits;

beforeEach(() => {
  nowMs = 0;
  limits = createDeliveryLimits(() => nowMs);
});

/** Begins attempts for a wallet. @returns what ends them */
function begin(wallet: string, count: number): () => void {
  const ends = Array.from({ length: count }, () =>
    limits.begin({ wallet, deliveryId: 1n, attempt: 1 }),
  );
  return () => {
    for (const end of ends) end();
  };
}

/** One exchange with the wallet's receiver, as long as one may take. */
function answerSlowly(wallet: string): void {
  const end = begin(wallet, 1);
  nowMs += TEN_SECONDS_MS;
  end();
}

describe('the share of a wallet', () => {
  it('ends where a round could take it beyond 24', () => {
    begin('one', 9);
    begin('another', 8);
    expect(limits.next('more')).toMatchObject({ max: 16, exceptWallets: ['one'] });
  });

  it('never blocks a webhook that has no attempt in progress', () => {
    begin('one', 24);
    expect(limits.next('first')).toMatchObject({ max: 64, webhookMax: 1, exceptWallets: [] });
  });
});

describe('wallets with slow receivers', () => {
  it('have 64 attempts together while all others continue', () => {
    for (const wallet of ['slow', 'slower', 'slowest']) answerSlowly(wallet);
    begin('slow', 60);
    expect(limits.next('first')).toMatchObject({ max: 4, exceptWallets: [] });
    begin('slower', 4);
    const turn = limits.next('first');
    expect(turn?.max).toBe(256);
    expect(new Set(turn?.exceptWallets)).toEqual(new Set(['slow', 'slower', 'slowest']));
    expect(new Set(limits.next('more')?.exceptWallets)).toEqual(
      new Set(['slow', 'slower', 'slowest']),
    );
  });

  it('are forgotten ten minutes after their last slow attempt', () => {
    answerSlowly('slow');
    nowMs += 599_999;
    begin('slow', 64);
    expect(limits.next('first')?.exceptWallets).toEqual(['slow']);
    nowMs += 1;
    expect(limits.next('first')?.exceptWallets).toEqual([]);
  });

  it('are remembered up to a thousand, the latest ones first', () => {
    const ends = Array.from({ length: 1_001 }, (_value, index) => begin(`slow ${index}`, 1));
    nowMs += TEN_SECONDS_MS;
    for (const end of ends) end();
    begin('slow 0', 64);
    expect(limits.next('first')?.exceptWallets).toEqual([]);
    begin('slow 1', 64);
    const { exceptWallets = [] } = limits.next('first') ?? {};
    expect(exceptWallets).toHaveLength(1_000);
    expect(exceptWallets).not.toContain('slow 0');
  });
});

describe('many new wallets with slow receivers', () => {
  it('delay the others for two seconds only, not until their time-out', () => {
    for (let index = 0; index < 16; index += 1) begin(`stranger ${index}`, 16);
    expect(limits.next('more')).toBeUndefined();
    nowMs += 1_999;
    expect(limits.next('more')).toBeUndefined();
    nowMs += 1;
    const turn = limits.next('more');
    expect(turn?.max).toBe(16);
    expect(turn?.exceptWallets).toHaveLength(16);
  });

  it('never use more connections than a process can hold', () => {
    for (let index = 0; index < 4; index += 1) {
      begin(`stranger ${index}`, 256);
      nowMs += 2_000;
    }
    expect(limits.next('more')).toBeUndefined();
  });
});
