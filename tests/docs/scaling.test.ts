import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { gatewayUpdate, jobClose } from '../../programs/client/index.ts';
import { computeBudget, LOADED_BYTES_USUAL } from '../../programs/client/sender/transaction.ts';
import { jobFees } from '../../programs/tools/jobFees.ts';
import { pass } from '../programs/support/expectations.ts';
import { complete, composeLock } from '../programs/support/jobs.ts';
import { createWorld, type World } from '../programs/support/world.ts';
import { readDocuments } from './documents.ts';

/** The cost model's, as the page names them. */
const UNITS = { signature: 720, writtenAccount: 300 };
const DATA_BYTES_PER_UNIT = 4;
const LOADED_PAGE_BYTES = 32 * 1024;
const UNITS_PER_LOADED_PAGE = 8;
/** SIMD-0525's, at slots of 200 ms. */
const ACCOUNT_UNITS_MAX = 20_000_000;
const BLOCK_UNITS_MAX = 50_000_000;
const BLOCKS_PER_SECOND = 5;

const textOf = (path: string): string => {
  const found = readDocuments().find((document) => document.path === path);
  if (!found) throw new Error(`${path} is gone`);
  return found.text;
};
const page = textOf('docs/scaling.md');
const shown = (number: number): string => number.toLocaleString('en-US');

/** One of a job's transactions, as the ledger executes and counts it. */
interface Cost {
  readonly executed: number;
  /** Signatures, written accounts, and bytes of instruction data. */
  readonly parts: readonly number[];
  readonly counted: number;
}

async function costOf(
  { chain }: World,
  composed: TransactionInstruction[],
  signers: Keypair[],
): Promise<Cost> {
  const limits = computeBudget({ computeUnits: 60_000, microLamports: undefined });
  const instructions = [...composed, ...limits];
  const executed = await chain.send(instructions, signers);
  const message = new Transaction({
    feePayer: chain.payer.publicKey,
    recentBlockhash: PublicKey.default.toBase58(),
  })
    .add(...instructions)
    .compileMessage();
  const signatures = message.header.numRequiredSignatures;
  const written = message.accountKeys.filter((_, index) => message.isAccountWritable(index)).length;
  const bytes = instructions.reduce((sum, { data }) => sum + data.length, 0);
  const loaded = Math.ceil(LOADED_BYTES_USUAL / LOADED_PAGE_BYTES) * UNITS_PER_LOADED_PAGE;
  const counted =
    executed +
    signatures * UNITS.signature +
    written * UNITS.writtenAccount +
    Math.floor(bytes / DATA_BYTES_PER_UNIT) +
    loaded;
  return { executed, parts: [signatures, written, bytes], counted };
}

let lock: Cost;
let completion: Cost;
let closing: Cost;

beforeAll(async () => {
  const { chain, operator, ...others } = await createWorld();
  // The gateway's signer pays the fees.
  const world = { ...others, chain, operator, hotSigner: chain.payer };
  const signers = [chain.payer.publicKey];
  const update = gatewayUpdate({ operator: operator.publicKey, signers, stopped: false });
  await chain.send([update], [operator]);
  const { instruction, job } = await composeLock(world);
  lock = await costOf(world, [instruction], []);
  completion = await costOf(world, [complete(world, job)], []);
  await pass(world, 180n);
  closing = await costOf(world, [jobClose({ job, rentPayer: chain.payer.publicKey })], []);
});

describe('what the ledger allows, in docs/scaling.md', () => {
  it('counts each transaction of a job by the cost model', () => {
    const rows = [
      ['lock', lock],
      ['completion', completion],
      ['closing', closing],
    ] as const;
    for (const [name, { executed, parts, counted }] of rows) {
      const row = [name, shown(executed), parts.map(shown).join(', '), shown(counted)];
      expect(page).toContain(`\n| ${row.join(' | ')} |\n`);
    }
  });

  it('computes from them what a vault, a wallet, a signer and a block carry', () => {
    const perJob = [lock, completion, closing];
    const shared: [string, number, Cost[]][] = [
      ['a vault, or a worker', ACCOUNT_UNITS_MAX, [completion]],
      ['a credit account', ACCOUNT_UNITS_MAX, [lock, completion]],
      ['a signer that pays', ACCOUNT_UNITS_MAX, perJob],
      ['a block', BLOCK_UNITS_MAX, perJob],
    ];
    for (const [what, units, costs] of shared) {
      const sum = costs.reduce((total, { counted }) => total + counted, 0);
      const terms = costs.map(({ counted }) => shown(counted)).join(' + ');
      const divisor = costs.length > 1 ? `(${terms})` : terms;
      const jobs = Math.floor(units / sum);
      const quotient = `${shown(units)} / ${divisor} = ${shown(jobs)}`;
      expect(page).toContain(`\n| ${what} | ${quotient} | ${shown(jobs * BLOCKS_PER_SECOND)} |\n`);
    }
  });

  it('names the limits of a vault and of a block again', () => {
    const [vault, block] = [
      Math.floor(ACCOUNT_UNITS_MAX / completion.counted) * BLOCKS_PER_SECOND,
      Math.floor(BLOCK_UNITS_MAX / (lock.counted + completion.counted + closing.counted)) *
        BLOCKS_PER_SECOND,
    ];
    const hundreds = (number: number) => shown(Math.round(number / 100) * 100);
    expect(page).toContain(
      `At about ${hundreds(vault * 0.8)} settlements a second, four fifths of a vault's ${shown(vault)}.`,
    );
    expect(page).toContain(`a block's limit, ${shown(block)} jobs a second`);
  });
});

describe('what the ledger takes, in docs/scaling.md', () => {
  it('is the fee of a job in each shape', () => {
    const { alone, legacy, legacy_one_pair, version_1, version_1_one_pair } = jobFees().one_key;
    const rows = [
      ['one job', alone],
      ['jobs of any wallets and workers', legacy],
      ['jobs of one wallet and worker', legacy_one_pair],
      ['any, in version 1', version_1],
      ['one pair, in version 1', version_1_one_pair],
    ] as const;
    for (const [name, fees] of rows) {
      const jobs = [
        fees.locks_per_transaction,
        fees.completions_per_transaction,
        fees.closings_per_transaction,
      ];
      expect(page).toContain(`\n| ${name} | ${jobs.join(', ')} | ${shown(fees.total)} |\n`);
    }
  });
});

describe('what processors allow, in docs/scaling.md', () => {
  /** Milliseconds a job of a part, as the page's first table has it. */
  const msOf = (part: string): number =>
    Number(new RegExp(`^\\| ${part} \\| ([\\d.]+) \\|`, 'm').exec(page)?.[1]);

  it('takes the times of the path with 64 clients', () => {
    const benchmarks = textOf('docs/benchmarks.md');
    const timesOf = (parts: string): number[] => {
      const row = benchmarks.split('\n').find((line) => line.startsWith(`| of it ${parts} |`));
      return (row?.match(/[\d.]+(?:, [\d.]+)*/g)?.at(-1) ?? '').split(', ').map(Number);
    };
    const [database] = timesOf('database, ledger');
    const [worker, indexer, api] = timesOf('workers, indexer, API');
    expect(['API', 'database', 'indexer, without webhooks', 'worker'].map(msOf)).toEqual([
      api,
      database,
      indexer,
      worker,
    ]);
  });

  it('divides rightly', () => {
    const parts = ['API', 'database', 'indexer, without webhooks', 'together', 'worker'];
    for (const part of parts) {
      const jobs = shown(Math.floor(1_000 / msOf(part)));
      expect(page).toContain(`\n| ${part} | ${msOf(part)} | ${jobs} |`);
    }
    const quotients = [
      ...page.matchAll(/(?<count>\d+) \/ (?<ms>[\d.]+) ms = (?<jobs>[\d,]+\d)/g),
      ...page.matchAll(/(?<jobs>[\d,]+\d) = (?<count>\d+) \/ (?<ms>[\d.]+) ms/g),
    ].map(({ groups = {} }) => groups);
    expect(quotients.length).toBeGreaterThan(5);
    for (const { count, ms, jobs } of quotients) {
      expect(`${count} / ${ms}: ${jobs}`).toBe(
        `${count} / ${ms}: ${shown(Math.floor((Number(count) * 1_000) / Number(ms)))}`,
      );
    }
  });

  it('gives a thousand workers what the indexer carries', () => {
    const jobs = Math.floor(1_000 / msOf('indexer, without webhooks'));
    expect(page).toContain(
      `The indexer's ${shown(jobs)} jobs a second are ${jobs / 1_000} for each of a thousand workers. With answers of 600 tokens, that is ${shown(jobs * 600)} tokens a second.`,
    );
    expect(page).toContain(`The indexer ends first, at ${shown(jobs)}.`);
    expect(page).toContain(`The indexer ends before, at ${shown(jobs)}.`);
  });
});
