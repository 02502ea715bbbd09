import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { createWebhooks } from '../../api/account/webhooks.ts';
import { eventEnvelope } from '../../api/docs/schemas.ts';
import { resolveName } from '../../common/net/addressGuard.ts';
import { createSealing } from '../../common/sealing.ts';
import { rebuildMirror } from '../../indexer/mirror/rebuild.ts';
import { readLedger } from '../../indexer/reconcile/readLedger.ts';
import { isClean, reconcile } from '../../indexer/reconcile/reconcile.ts';
import { IDL } from '../../programs/client/codec.ts';
import {
  createJobId,
  creditBuy,
  creditOpen,
  formatJobId,
  gatewayOpen,
  gatewayUpdate,
  jobLock,
  PROGRAM_ID,
} from '../../programs/client/index.ts';
import { tokenMintTo } from '../../programs/client/token/instructions.ts';
import { SECRETS_KEY, startIndexerInProcess } from '../../testing/indexer/indexerProcess.ts';
import type { TestIndexer } from '../../testing/indexer/inProcessIndexer.ts';
import { atEnd, ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import {
  callThrough,
  deployHostileProgram,
  HOSTILE_PROGRAM_ID,
  HOSTILE_SIGNER,
} from '../../testing/ledger/hostileCaller.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { cheapest, widenBounds } from './hostileWriter/catalog.ts';
import { createEntryPaths, type EntryPath } from './hostileWriter/entryPaths.ts';
import { CREDITS_MAX, ENDPOINTS, ONES, U64_MAX } from './hostileWriter/extremes.ts';
import { acceptedImitations, refusedImitations } from './hostileWriter/imitations.ts';
import {
  endOverdue,
  leave,
  leaveOpen,
  type OpenEnds,
  writeExtremes,
} from './hostileWriter/life.ts';
import { createStranger, type Stranger } from './hostileWriter/stranger.ts';

/** What only the authority or the arbiter can bring about, and neither is hostile. */
const RESERVED = [
  ...['AuthorityAccepted', 'AuthorityProposed', 'ConfigInitialized', 'ConfigUpdated'],
  ...['ModelRetired', 'ModelUpserted', 'PauseSet', 'TreasuryWithdrawn', 'WorkerSuspended'],
  'GatewayVouched',
];
/** Puts a hash in the place of another: nothing in it can be extreme. The folds' own test has it. */
const PLAIN = ['DisputeAmended'];
const TWO_DAYS_SECONDS = 2 * 86_400;
/** Of the 64 instructions that a transaction may run, each event takes two. */
const EVENTS_MAX = 30;
/** What a program may create at once, more than any account of ours. */
const BLANK_BYTES = 10_240;
const everyComputeUnit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 });

const scene = await ownScene();
const mirror = await ownMirror();
let receiver: Receiver;
let indexer: TestIndexer;
let entryPaths: readonly EntryPath[];
let hidden: EntryPath;
let strangers: Stranger[];
let ends: OpenEnds[];

beforeAll(async () => {
  await deployHostileProgram(scene.ledger);
  receiver = await startReceiver();
  await start();
  await widenBounds(scene);
  ({ entryPaths, hidden } = await createEntryPaths(scene));
  strangers = await Promise.all(
    entryPaths.map((entryPath, place) =>
      createStranger(scene, entryPath, place === entryPaths.length - 1),
    ),
  );
  await subscribe(strangers.map(({ key }) => key.toBase58()));
});

afterEach(expectAgreement);

atEnd(async () => {
  await indexer?.terminate();
  await receiver?.close();
});

async function start(): Promise<void> {
  const settings = { SVC_ALLOW_LOOPBACK: 'true' };
  indexer = await startIndexerInProcess(scene.ledger, mirror.databaseUrl, settings);
}

/** Wants to hear of everything. */
async function subscribe(wallets: string[]): Promise<void> {
  const webhooks = createWebhooks({
    ...{ pool: mirror.pool, resolve: resolveName, allowLoopback: true },
    sealing: createSealing(Buffer.from(SECRETS_KEY, 'base64')),
  });
  for (const wallet of wallets) {
    await webhooks.create(wallet, { url: receiver.url, events: [...WEBHOOK_KINDS] });
  }
}

/** The indexer runs, the mirror has everything that happened, and no check contradicts it. */
async function expectAgreement(): Promise<void> {
  const { connection } = scene.ledger;
  const succeeded = (await scene.read()).map(({ signature }) => signature);
  await until(async () => (await countIn('transactions', succeeded)) === succeeded.length);
  // A rebuild leads for a moment, and gives that back.
  await until(async () => {
    const health = await fetch(`${indexer.url}/health`);
    return ((await health.json()) as { role: string }).role === 'leader';
  });
  const result = await reconcile({ database: mirror.pool, connection, addresses });
  expect(result.differences).toEqual([]);
  expect(isClean(result)).toBe(true);
}

async function countIn(table: 'transactions' | 'journal', signatures: string[]): Promise<number> {
  const { rowCount } = await mirror.pool.query(
    `select from mirror.${table} where signature = any($1)`,
    [signatures],
  );
  return rowCount ?? 0;
}

async function eventNamesOf(signatures: string[]): Promise<string[]> {
  const { rows } = await mirror.pool.query<{ event_name: string }>(
    'select distinct event_name from mirror.journal where signature = any($1) order by 1',
    [signatures],
  );
  return rows.map(({ event_name }) => event_name);
}

/** @throws Error when the ledger refuses it */
async function sendBy(entryPath: EntryPath | undefined, ...instructions: TransactionInstruction[]) {
  const landed = await entryPath?.send(instructions);
  if (!landed?.meta || landed.meta.err) throw new Error(landed?.meta?.logMessages?.join('\n'));
  const { signatures } = landed.transaction;
  return { logs: landed.meta.logMessages ?? [], signatures: signatures.slice(0, 1) };
}

/** Opens an account for a new wallet. */
function openAnother(): TransactionInstruction {
  const payer = scene.ledger.payer.publicKey;
  return creditOpen({ payer, wallet: Keypair.generate().publicKey });
}

describe('the mirror', () => {
  it('stores every extreme value of strangers, by every path', async () => {
    ends = await Promise.all(strangers.map(writeExtremes));
    await expectAgreement();
    const { rows } = await mirror.pool.query<{ endpoint: string }>(
      'select endpoint from mirror.workers',
    );
    const endpoints = rows.map(({ endpoint }) => endpoint);
    expect(endpoints).toEqual(expect.arrayContaining(ENDPOINTS.slice(1)));
  });

  it("catches up with strangers' transactions of the time when it was down", async () => {
    await indexer.terminate();
    try {
      const { connection } = scene.ledger;
      const everyone = strangers.map((stranger, place) => ({
        stranger,
        openEnds: ends[place] as OpenEnds,
      }));
      // No verdict is given while the jobs can still be disputed.
      await scene.wait(61);
      // One after the other: the first burns what was slashed and leaves the next nothing.
      const overdue: PublicKey[] = [];
      for (const { stranger, openEnds } of everyone) {
        overdue.push(await leaveOpen(stranger, openEnds, scene.service));
      }
      await scene.wait(121);
      await Promise.all(
        everyone.map(({ stranger, openEnds }, place) =>
          endOverdue(stranger, openEnds, overdue[place] as PublicKey),
        ),
      );
      await scene.wait(TWO_DAYS_SECONDS);
      await Promise.all(
        everyone.map(({ stranger, openEnds }) => leave(stranger, openEnds, connection)),
      );
    } finally {
      await start();
    }
    await expectAgreement();
    const names = (IDL.events ?? []).map(({ name }) => name).sort();
    const expected = names.filter((name) => ![...RESERVED, ...PLAIN].includes(name));
    for (const { signatures } of strangers) {
      expect(await eventNamesOf(signatures)).toEqual(expected);
    }
  });

  it('stores as many events as fit into one transaction', async () => {
    const operator = scene.ledger.payer.publicKey;
    await sendBy(
      entryPaths[2],
      gatewayOpen({ payer: operator, operator, signers: [HOSTILE_SIGNER] }),
    );
    const update = gatewayUpdate({ operator, signers: [], stopped: false });
    const { signatures } = await sendBy(
      entryPaths[2],
      everyComputeUnit,
      callThrough(...Array<TransactionInstruction>(EVENTS_MAX).fill(update)),
    );
    await expectAgreement();
    expect(await countIn('journal', signatures)).toBe(EVENTS_MAX);
  });

  it('stores an event that was emitted after the logs were full', async () => {
    const nothing = new TransactionInstruction({ programId: HOSTILE_PROGRAM_ID, keys: [] });
    const noise = Array<TransactionInstruction>(50).fill(nothing);
    const { logs, signatures } = await sendBy(
      entryPaths[2],
      everyComputeUnit,
      callThrough(...noise, openAnother()),
    );
    expect(logs.at(-1)).toBe('Log truncated');
    expect(logs.join()).not.toContain(PROGRAM_ID.toBase58());
    await expectAgreement();
    expect(await eventNamesOf(signatures)).toEqual(['CreditOpened']);
  });

  it('finds a transaction that names the program only in a lookup table', async () => {
    const operator = scene.ledger.payer.publicKey;
    const update = gatewayUpdate({ operator, signers: [], stopped: true });
    const { signatures } = await sendBy(hidden, update);
    await sendBy(entryPaths[0], gatewayUpdate({ operator, signers: [], stopped: false }));
    await expectAgreement();
    expect(await eventNamesOf(signatures)).toEqual(['GatewayUpdated']);
  });

  it('ignores data that only looks like an event', async () => {
    const payer = scene.ledger.payer.publicKey;
    const event = await readAnEvent();
    const sent: string[] = [];
    for (const entryPath of [entryPaths[0], entryPaths[2], entryPaths[4]]) {
      for (const imitation of acceptedImitations(payer, event)) {
        sent.push(...(await sendBy(entryPath, ...imitation)).signatures);
      }
      for (const imitation of refusedImitations(payer, event)) {
        const landed = await entryPath?.send(imitation);
        expect(landed?.meta?.err).not.toBeNull();
        sent.push(...(landed?.transaction.signatures ?? []));
      }
    }
    const { signatures } = await sendBy(entryPaths[0], openAnother());
    await until(async () => (await countIn('journal', signatures)) === 1);
    await expectAgreement();
    expect(await countIn('journal', sent)).toBe(0);
  });

  it('separates the jobs of two wallets with the same id', async () => {
    const [one, other] = strangers as [Stranger, Stranger];
    const jobId = await idFor(one.creditAccount, other.creditAccount);
    for (const stranger of [one, other]) {
      const { key, credits } = stranger;
      await stranger.send([
        creditBuy({ buyer: key, buyerTokenAccount: credits, wallet: key, credits: CREDITS_MAX }),
        jobLock({
          ...{ payer: key, signer: key, wallet: key, modelId: cheapest.id, jobId },
          ...{ tokenLimit: cheapest.tokenLimit, maxCredits: U64_MAX },
        }),
      ]);
    }
    await one.fail(addresses.job(one.creditAccount, jobId), 'worker_error', {
      hash: ONES,
      tokens: 0,
    });
    await expectAgreement();
    const { rows } = await mirror.pool.query(
      'select wallet, status from mirror.jobs where job_id = $1 order by status',
      [formatJobId(jobId)],
    );
    expect(rows).toEqual([
      { wallet: one.key.toBase58(), status: 'failed' },
      { wallet: other.key.toBase58(), status: 'pending' },
    ]);
  });

  it("ignores empty accounts like the program's, and transfers to its own", async () => {
    const { ledger, service } = scene;
    const { blankAccounts: before } = await readLedger(ledger.connection, addresses);
    const fromPubkey = ledger.payer.publicKey;
    const sizes = [0, 1, BLANK_BYTES];
    for (const space of sizes) {
      const keypair = Keypair.generate();
      const place = { fromPubkey, newAccountPubkey: keypair.publicKey, programId: PROGRAM_ID };
      const create = SystemProgram.createAccount({ ...place, space, lamports: 1e9 });
      await scene.send([create], [keypair]);
    }
    const give = (mint: PublicKey, vault: PublicKey) =>
      tokenMintTo({ mint, account: vault, authority: fromPubkey, baseUnits: 7n });
    const { vault, stakeVault } = addresses;
    await scene.send(
      [give(service.mints.credit, vault), give(service.mints.stake, stakeVault)],
      [],
    );
    await expectAgreement();
    const { blankAccounts } = await readLedger(ledger.connection, addresses);
    expect(blankAccounts).toBe(before + sizes.length);
  });

  it('sends webhooks every event in the JSON of the contract', async () => {
    await until(async () => {
      const { rowCount } = await mirror.pool.query(
        `select from service.webhook_deliveries where status <> 'delivered'`,
      );
      return rowCount === 0;
    });
    const envelopes = receiver.received.map(({ body }) => JSON.parse(body) as { event: EventKind });
    for (const envelope of envelopes) eventEnvelope(envelope.event).parse(envelope);
    const kinds = new Set(envelopes.map(({ event }) => event));
    expect([...kinds].sort()).toEqual([...WEBHOOK_KINDS].sort());
  });

  it('has the same tables after a rebuild', async () => {
    const rebuilt = await rebuildMirror({
      ...{ pool: mirror.pool, source: scene.source, addresses },
      signal: new AbortController().signal,
      onFolded: () => {},
    });
    expect(rebuilt.differing).toEqual([]);
  });
});

/** The bytes of an event that the program has emitted. */
async function readAnEvent(): Promise<Buffer> {
  const landed = await entryPaths[0]?.send([openAnother()]);
  const calls = landed?.meta?.innerInstructions?.flatMap(({ instructions }) => instructions) ?? [];
  return Buffer.from(base58.decode(calls.at(-1)?.data ?? ''));
}

/** An id that the program takes under both accounts. */
async function idFor(one: PublicKey, other: PublicKey): Promise<Uint8Array> {
  const nowMs = Number(await readClockSeconds(scene.ledger.connection)) * 1_000;
  for (;;) {
    const { bytes } = createJobId({ nowMs, creditAccount: one });
    const seeds = [Buffer.from('job'), other.toBytes(), bytes];
    if (PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)[1] === 255) return bytes;
  }
}
