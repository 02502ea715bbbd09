import { beforeEach, describe, expect, it } from '@jest/globals';
import { createShares, type Shares } from '../../../indexer/webhooks/deliver/shares.ts';

const TEN_SECONDS_MS = 10_000;

let nowMs: number;
let shares: Shares;

beforeEach(() => {
  nowMs = 0;
  shares = createShares(() => nowMs);
});

/** Begins attempts for a wallet. @returns what ends them */
function begin(wallet: string, count: number): () => void {
  const ends = Array.from({ length: count }, () =>
    shares.begin({ wallet, deliveryId: 1n, attempt: 1 }),
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
  it('allows four attempts to each webhook while few are in progress', () => {
    begin('one', 8);
    expect(shares.turn('more')).toMatchObject({ webhookMax: 4, exceptWallets: [] });
  });

  it('ends where a round could take it beyond 24', () => {
    begin('one', 9);
    begin('another', 8);
    expect(shares.turn('more')).toMatchObject({ max: 16, exceptWallets: ['one'] });
  });

  it('never blocks a webhook that has no attempt in progress', () => {
    begin('one', 24);
    expect(shares.turn('first')).toMatchObject({ max: 64, webhookMax: 1, exceptWallets: [] });
  });

  it('is returned when its attempts end', () => {
    const end = begin('one', 24);
    end();
    expect(shares.turn('more')?.exceptWallets).toEqual([]);
  });
});

describe('wallets with slow receivers', () => {
  it('have 64 attempts together while all others continue', () => {
    for (const wallet of ['slow', 'slower', 'slowest']) answerSlowly(wallet);
    begin('slow', 60);
    expect(shares.turn('first')).toMatchObject({ max: 4, exceptWallets: [] });
    begin('slower', 4);
    const turn = shares.turn('first');
    expect(turn?.max).toBe(256);
    expect(new Set(turn?.exceptWallets)).toEqual(new Set(['slow', 'slower', 'slowest']));
    expect(new Set(shares.turn('more')?.exceptWallets)).toEqual(
      new Set(['slow', 'slower', 'slowest']),
    );
  });

  it('are forgotten ten minutes after their last slow attempt', () => {
    answerSlowly('slow');
    nowMs += 599_999;
    begin('slow', 64);
    expect(shares.turn('first')?.exceptWallets).toEqual(['slow']);
    nowMs += 1;
    expect(shares.turn('first')?.exceptWallets).toEqual([]);
  });

  it('are remembered up to a thousand, the latest ones first', () => {
    const ends = Array.from({ length: 1_001 }, (_value, index) => begin(`slow ${index}`, 1));
    nowMs += TEN_SECONDS_MS;
    for (const end of ends) end();
    begin('slow 0', 64);
    expect(shares.turn('first')?.exceptWallets).toEqual([]);
    begin('slow 1', 64);
    const { exceptWallets = [] } = shares.turn('first') ?? {};
    expect(exceptWallets).toHaveLength(1_000);
    expect(exceptWallets).not.toContain('slow 0');
  });
});

describe('many new wallets with slow receivers', () => {
  it('delay the others for two seconds only, not until their time-out', () => {
    for (let index = 0; index < 16; index += 1) begin(`stranger ${index}`, 16);
    expect(shares.turn('more')).toBeUndefined();
    nowMs += 1_999;
    expect(shares.turn('more')).toBeUndefined();
    nowMs += 1;
    const turn = shares.turn('more');
    expect(turn?.max).toBe(16);
    expect(turn?.exceptWallets).toHaveLength(16);
  });

  it('never use more connections than a process can hold', () => {
    for (let index = 0; index < 4; index += 1) {
      begin(`stranger ${index}`, 256);
      nowMs += 2_000;
    }
    expect(shares.turn('more')).toBeUndefined();
  });
});
