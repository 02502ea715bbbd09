import { describe, expect, it } from '@jest/globals';
import { NodeBehindError, RetryableError } from '../../indexer/source/errors.ts';
import { createLedgerSource, type LedgerSource } from '../../indexer/source/source.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';

const PLACE = { signature: 'a signature', slot: 7n };

/** A node that gives these answers, once it was asked so often that it has caught up. */
function sourceOf(answers: Record<string, unknown>, behind = { times: 0 }) {
  const asked: { method: string; config: unknown }[] = [];
  const waitedMs: number[] = [];
  const ask: LedgerNode['ask'] = async (method, [, config], read) => {
    asked.push({ method, config });
    if (method === 'getSignaturesForAddress' && behind.times > 0) {
      behind.times -= 1;
      throw new NodeBehindError('Minimum context slot has not been reached');
    }
    return read(answers[method]);
  };
  const wait = async (ms: number) => void waitedMs.push(ms);
  return {
    source: createLedgerSource({ node: { ask }, programId: PROGRAM_ID, wait }),
    asked,
    waitedMs,
  };
}

/** What a node shows of a transaction that only names the program. */
function shown(meta: Record<string, unknown>) {
  const message = { accountKeys: [PROGRAM_ID.toBase58()] };
  return { getTransaction: { slot: 7, transaction: { message }, meta: { err: null, ...meta } } };
}

describe('a list of signatures', () => {
  const query: Parameters<LedgerSource['list']>[0] = {
    ...{ commitment: 'finalized', before: 'a newer one', limit: 1_000, nodeSlotMin: 500n },
  };

  it('is refused by a node that has not reached the slot that it must include', async () => {
    const { source, asked } = sourceOf({ getSignaturesForAddress: [] });
    await source.list(query);
    await source.list({ commitment: 'confirmed', limit: 100 });
    await source.list({ ...query, nodeSlotMin: 501n });
    const finalized = { commitment: 'finalized', before: 'a newer one', limit: 1_000 };
    expect(asked).toEqual([
      { method: 'getSignaturesForAddress', config: { ...finalized, minContextSlot: 500 } },
      { method: 'getSignaturesForAddress', config: { commitment: 'confirmed', limit: 100 } },
      { method: 'getSignaturesForAddress', config: { ...finalized, minContextSlot: 501 } },
    ]);
  });

  it('has a slot in the order of its block, where the node says it', async () => {
    const rows = [0, 2, 1].map((transactionIndex) => ({
      ...{ signature: `${transactionIndex}`, slot: 7, err: null, transactionIndex },
    }));
    const { source } = sourceOf({ getSignaturesForAddress: rows });
    const listed = await source.list(query);
    expect(listed.map(({ signature }) => signature)).toEqual(['2', '1', '0']);
  });

  it('is requested again while the node is a slot or two behind, up to a limit', async () => {
    const rows = [{ signature: 'a signature', slot: 7, err: null }];
    const answers = { getSignaturesForAddress: rows };
    const near = sourceOf(answers, { times: 2 });
    expect(await near.source.list(query)).toEqual([{ ...PLACE, failed: false }]);
    expect(near.waitedMs).toEqual([400, 400]);

    const far = sourceOf(answers, { times: 6 });
    await expect(far.source.list(query)).rejects.toThrow(NodeBehindError);
    expect(far.waitedMs).toHaveLength(5);
  });
});

describe('a transaction', () => {
  it('is read at any version, and has no events without inner instructions', async () => {
    const { source, asked } = sourceOf(shown({ innerInstructions: [] }));
    expect(await source.read({ ...PLACE, failed: false })).toEqual({ ...PLACE, events: [] });
    expect(asked).toMatchObject([{ config: { maxSupportedTransactionVersion: 127 } }]);
  });

  it('is requested again when a node on another fork shows it elsewhere', async () => {
    const { source } = sourceOf(shown({ innerInstructions: [] }));
    const listed = { ...PLACE, slot: 6n, failed: false };
    await expect(source.read(listed)).rejects.toThrow(RetryableError);
  });

  it.each([[{ innerInstructions: null }], [{}]])(
    'is requested again when its inner instructions are missing (%j)',
    async (meta) => {
      const { source } = sourceOf(shown(meta));
      await expect(source.read({ ...PLACE, failed: false })).rejects.toThrow(RetryableError);
    },
  );
});

describe('the location of transactions', () => {
  const answer = (slot: number) => ({
    getSignatureStatuses: { context: { slot }, value: [{ slot: 7, err: null }, null] },
  });

  it('is answered by a node that has reached the required slot', async () => {
    const { source } = sourceOf(answer(500));
    const located = await source.locate(['a signature', 'another one'], 500n);
    expect(located).toEqual(new Map([['a signature', 7n]]));
  });

  it('is refused by a node that is behind the required slot', async () => {
    const { source, waitedMs } = sourceOf(answer(499));
    await expect(source.locate(['a signature', 'another one'], 500n)).rejects.toThrow(
      NodeBehindError,
    );
    expect(waitedMs).toHaveLength(5);
  });
});
