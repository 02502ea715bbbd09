import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { getSignatureStatuses } from '../../programs/client/rpc/methods.ts';
import {
  createSender,
  type Sender,
  type SendResult,
  type Signer,
  TransactionTooLargeError,
  type WalletSigner,
  WithdrawnError,
} from '../../programs/client/sender/index.ts';
import { decodeTransaction } from '../../programs/client/wire/index.ts';
import {
  accepted,
  type Forward,
  type RpcRequest,
} from '../../testing/ledger/interceptedConnection.ts';
import {
  advanceSeconds,
  LONG_BLOCKHASH_MS,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
import { interceptedRpc } from './interceptedRpc.ts';

/** After it every blockhash given before has expired. */
const EXPIRY_SECONDS = (2 * LONG_BLOCKHASH_MS) / 1_000;
/** The instruction that says how much a transaction loads. */
const USUAL_BYTES = Buffer.from('0400000800', 'hex');

const payers = [Keypair.generate(), Keypair.generate()] as const;
let ledger: TestLedger;
let sender: Sender;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  for (const { publicKey } of payers) await ledger.fundLamports(publicKey, 1e12);
  sender = createSender(options());
});

afterAll(async () => {
  sender.close();
  await ledger.close();
});

function options(rpc = ledger.rpc) {
  const logger = createLogger({ name: 'test', level: 'silent' });
  return { rpc, feePayers: payers, commitment: 'confirmed' as const, logger, repeatMs: 50 };
}

/** What the ledger's node answers, as far as these tests change it. */
interface Answer {
  readonly result: {
    readonly context: { readonly slot: number };
    readonly value: object & { readonly lastValidBlockHeight: number } & (object | null)[];
    readonly absoluteSlot: number;
    readonly blockHeight: number;
  };
}

/** A node that loses or changes what the test says. */
const nodeThat = (
  intercept: (request: RpcRequest, forward: (to?: RpcRequest) => Promise<Answer>) => unknown,
) =>
  interceptedRpc(ledger.rpcUrl, async (request, forward: Forward) => {
    const pass = (to = request) => forward(to) as Promise<Answer>;
    return (await intercept(request, pass)) as object;
  });

const senderBehind = (...[intercept]: Parameters<typeof nodeThat>) =>
  createSender(options(nodeThat(intercept)));

let payments = 0;
/** Each is another one, or another transaction would be the same. */
function pay(lamports = ++payments, from = payers[0].publicKey): TransactionInstruction {
  const toPubkey = payers[1].publicKey;
  return SystemProgram.transfer({ fromPubkey: from, toPubkey, lamports });
}

function send(by = sender, instructions = [pay()]): Promise<SendResult> {
  return by.send({ instructions, signers: [payers[0]], computeUnitLimit: 2_000 });
}

async function expectLanded(by = sender): Promise<SendResult> {
  const result = await send(by);
  expect(result.status).toBe('landed');
  return result;
}

const isAboutHistory = ({ params: [, config] }: RpcRequest): boolean =>
  (config as { searchTransactionHistory: boolean }).searchTransactionHistory;

describe('the sender', () => {
  it('appends its limits after the instructions, which keep their positions', async () => {
    const { signature, slot } = await send(sender, [pay(), pay()]);
    const { value } = await ledger.connection.getSignatureStatuses([String(signature)]);
    expect(value).toMatchObject([{ err: null, slot }]);
    const [first, second, units, bytes] = await instructionsOf(signature);
    expect([first?.program, second?.program]).toEqual(Array(2).fill(SystemProgram.programId));
    // 2,000 units for the instructions and 150 for each limit; 512 KiB of accounts.
    const program = ComputeBudgetProgram.programId;
    expect(units).toEqual({ program, data: '02fc080000' });
    expect(bytes).toEqual({ program, data: '0400000800' });

    const priced = createSender({ ...options(), priorityFee: async () => 1_000 });
    const [, moreUnits, , price] = await instructionsOf((await send(priced)).signature);
    expect([moreUnits?.data, price?.data]).toEqual(['0292090000', '03e803000000000000']);
    priced.close();
  });

  it.each(['a blockhash', 'its fee'])(
    'neither signs nor sends what was cancelled while it waited for %s',
    async (what) => {
      const asked = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const hold = async (at: string) => {
        if (at !== what) return;
        asked.resolve();
        await released.promise;
      };
      const methods: string[] = [];
      const node = nodeThat(async ({ method }, forward) => {
        methods.push(method);
        await hold('a blockhash');
        return forward();
      });
      const priorityFee = async () => {
        await hold('its fee');
        return 0;
      };
      const slow = createSender({ ...options(node), priorityFee });
      let isWanted = true;
      const sending = slow.send({
        ...{ instructions: [pay()], signers: [payers[0]], computeUnitLimit: 2_000 },
        isWanted: () => isWanted,
      });
      await asked.promise;
      isWanted = false;
      released.resolve();
      await expect(sending).rejects.toBeInstanceOf(WithdrawnError);
      expect(methods).toEqual(['getLatestBlockhash']);
      slow.close();
    },
  );

  it('says when it has sent, before its node answers', async () => {
    const seen: string[] = [];
    const node = nodeThat(async ({ method }, forward) => {
      const answer = await forward();
      seen.push(method);
      return answer;
    });
    const observed = createSender(options(node));
    const sent = { instructions: [pay()], signers: [payers[0]], computeUnitLimit: 2_000 };
    await observed.send({ ...sent, onSent: () => void seen.push('sent') });
    expect(seen.slice(0, 3)).toEqual(['getLatestBlockhash', 'sent', 'sendTransaction']);
    observed.close();
  });

  it('continues after any number of cancelled transactions', async () => {
    const unwanted = { instructions: [pay()], signers: [payers[0]], computeUnitLimit: 2_000 };
    for (let given = 0; given < 5_000; given += 1) {
      const sending = sender.send({ ...unwanted, isWanted: () => false });
      await expect(sending).rejects.toBeInstanceOf(WithdrawnError);
    }
    await expectLanded();
  });

  it('returns which instruction was refused, and why, without a fee', async () => {
    const before = await ledger.connection.getBalance(payers[0].publicKey);
    expect(await send(sender, [pay(), pay(1e17)])).toEqual({
      status: 'failed',
      signature: null,
      error: { name: '{"Custom":1}', code: null, instructionIndex: 1 },
      slot: expect.any(Number),
    });
    expect(await ledger.connection.getBalance(payers[0].publicKey)).toBe(before);
  });

  it('uses another fee payer when one has no funds, and that one last', async () => {
    const feePayers = [Keypair.generate(), payers[0]];
    const reported: string[] = [];
    const into = { write: (line: string) => void reported.push(JSON.parse(line).fee_payer) };
    const logger = createLogger({ name: 'test', level: 'error', into });
    const mixed = createSender({ ...options(), feePayers, logger });
    for (let sent = 0; sent < 4; sent += 1) await expectLanded(mixed);
    expect(reported).toEqual([feePayers[0]?.publicKey.toBase58()]);
    mixed.close();
  });

  it('uses another fee payer when one is below rent exemption', async () => {
    const poor = Keypair.generate();
    const fees = 1_000_000;
    await ledger.fundLamports(poor.publicKey, fees);
    const mixed = createSender({ ...options(), feePayers: [poor, payers[0]] });
    const outcome = await mixed.send({
      instructions: (feePayer) => [pay(fees, feePayer)],
      signers: [],
      computeUnitLimit: 2_000,
    });
    expect(outcome.status).toBe('landed');
    expect(await ledger.connection.getBalance(poor.publicKey)).toBe(fees);
    mixed.close();
  });

  it('refuses an oversized transaction before it sends anything', async () => {
    const many = Array.from({ length: 40 }, () => pay(1, Keypair.generate().publicKey));
    await expect(send(sender, many)).rejects.toBeInstanceOf(TransactionTooLargeError);
  });

  it('returns the outcome of one transaction to both of its callers', async () => {
    const same = [pay()];
    const outcomes = await Promise.all([send(sender, same), send(sender, same)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['landed', 'landed']);
  });
});

describe('the sender with an unreliable node', () => {
  it('returns the ledger’s error of a transaction that failed in a block', async () => {
    const unchecked = senderBehind((request, forward) => {
      const [wire, config] = request.params;
      const params = [wire, { ...Object(config), skipPreflight: true }];
      return forward(request.method === 'sendTransaction' ? { ...request, params } : request);
    });
    const outcome = await send(unchecked, [pay(1e17)]);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: '{"Custom":1}', code: null, instructionIndex: 0 },
    });
    const [status] = (await ledger.connection.getSignatureStatuses([String(outcome.signature)]))
      .value;
    expect(status?.slot).toBe(outcome.slot);
  });

  const refusal = (code: number, data?: object) => ({ error: { code, message: 'refused', data } });
  it.each<[string, (answer: () => Promise<object>) => Promise<object>]>([
    ['loses its answer', (answer) => answer().then(() => Promise.reject(new Error('reset')))],
    ['drops it', async () => ({ result: 'accepted' })],
    ['is unhealthy', async () => refusal(-32_005)],
    [
      'knows it already',
      (answer) => answer().then(() => refusal(-32_002, { err: 'AlreadyProcessed', logs: [] })),
    ],
  ])('lands a transaction although the first node %s', async (_what, first) => {
    let sendings = 0;
    const faulty = senderBehind(async ({ id, method }, forward) => {
      if (method !== 'sendTransaction' || ++sendings > 1) return forward();
      return { jsonrpc: '2.0', id, ...(await first(forward)) };
    });
    await expectLanded(faulty);
    expect(sendings).toBeGreaterThan(0);
  });

  it('reports a transaction as expired after its blockhash, without a status', async () => {
    const swallowing = senderBehind(async (request, forward) => {
      if (request.method !== 'sendTransaction') return forward();
      await advanceSeconds(ledger.connection, EXPIRY_SECONDS);
      return accepted(request);
    });
    const outcome = await send(swallowing);
    if (outcome.status !== 'expired') throw new Error(`The outcome is ${outcome.status}`);
    const { blockHeight = 0, absoluteSlot } = await ledger.connection.getEpochInfo('confirmed');
    expect(blockHeight).toBeGreaterThan(outcome.lastValidBlockHeight);
    expect(outcome.slot).toBeLessThanOrEqual(absoluteSlot);
    const { value } = await ledger.connection.getSignatureStatuses([outcome.signature], {
      searchTransactionHistory: true,
    });
    expect(value).toEqual([null]);
  });

  it('finds in the history what the recent statuses lack', async () => {
    let hasLanded = false;
    const forgetful = senderBehind(async (request, forward) => {
      const answer = await forward();
      if (request.method !== 'getSignatureStatuses' || isAboutHistory(request)) return answer;
      const { value } = answer.result;
      if (!hasLanded && value.some(Boolean)) {
        hasLanded = true;
        await advanceSeconds(ledger.connection, EXPIRY_SECONDS);
      }
      return { ...answer, result: { ...answer.result, value: value.map(() => null) } };
    });
    await expectLanded(forgetful);
  });

  it('gives up no transaction in the last block in which it may land', async () => {
    let lastValid = Number.NaN;
    let isLast = false;
    const atTheEnd = senderBehind(async (request, forward) => {
      if (request.method === 'sendTransaction' && !isLast) return accepted(request);
      const answer = await forward();
      const { result } = answer;
      if (request.method === 'getLatestBlockhash') lastValid = result.value.lastValidBlockHeight;
      if (request.method !== 'getEpochInfo') return answer;
      isLast = true;
      return { ...answer, result: { ...result, blockHeight: lastValid } };
    });
    await expectLanded(atTheEnd);
  });

  it('does not trust a node that is behind about an expired transaction', async () => {
    let heightSlot = 1;
    let asked = 0;
    const behind = senderBehind(async (request, forward) => {
      const answer = await forward();
      const { result } = answer;
      if (request.method === 'getEpochInfo') {
        heightSlot = result.absoluteSlot;
        return { ...answer, result: { ...result, blockHeight: result.blockHeight + 100_000 } };
      }
      if (request.method !== 'getSignatureStatuses') return answer;
      if (isAboutHistory(request) && ++asked > 1) return answer;
      const value = result.value.map(() => null);
      return { ...answer, result: { context: { slot: heightSlot - 1 }, value } };
    });
    await expectLanded(behind);
    expect(asked).toBeGreaterThan(1);
  });

  it('does not trust a block that may still be dropped', async () => {
    let asked = 0;
    const forked = senderBehind(async ({ method }, forward) => {
      const answer = await forward();
      if (method !== 'getSignatureStatuses' || ++asked > 3) return answer;
      const failed = { slot: answer.result.context.slot, confirmations: 0, err: 'AccountNotFound' };
      const value = [{ ...failed, confirmationStatus: 'processed' }];
      return { ...answer, result: { ...answer.result, value } };
    });
    await expectLanded(forked);
    expect(asked).toBeGreaterThan(3);
  });

  it('requires the newest known slot when a node checks a transaction', async () => {
    const checkedAt: (number | never[])[] = [];
    const behind = senderBehind(async ({ method, params }, forward) => {
      const [, checks] = params as [string, { minContextSlot?: number } | undefined];
      // What is sent once more is not checked.
      if (method === 'sendTransaction') checkedAt.push(checks?.minContextSlot ?? []);
      const answer = await forward();
      if (method !== 'getLatestBlockhash') return answer;
      return { ...answer, result: { ...answer.result, context: { slot: 1 } } };
    });
    const { slot } = await expectLanded(behind);
    await expectLanded(behind);
    expect(checkedAt.flat()).toEqual([1, slot]);
  });

  it('uses the lowest slot when several nodes answer together', async () => {
    const slots = [9, 5];
    const several = nodeThat(({ id, params }) => {
      const value = (params[0] as string[]).map(() => null);
      return { jsonrpc: '2.0', id, result: { context: { slot: slots.shift() }, value } };
    });
    const signatures = Array.from({ length: 300 }, (_, index) => `signature ${index}`);
    const history = { searchTransactionHistory: true };
    const { slot, value } = await getSignatureStatuses(several, signatures, history);
    expect([slot, value.length]).toEqual([5, signatures.length]);
  });

  it('signs again when the ledger no longer has the blockhash', async () => {
    let stale: object | undefined;
    const behind = senderBehind(async ({ method }, forward) => {
      const answer = await forward();
      if (method !== 'getLatestBlockhash' || stale !== undefined) return answer;
      const blockhash = Keypair.generate().publicKey.toBase58();
      const value = { ...answer.result.value, blockhash };
      stale = { ...answer, result: { ...answer.result, value } };
      return stale;
    });
    await expectLanded(behind);
    expect(stale).toBeDefined();
  });

  it('raises the limit of loaded data to the maximum where accounts need it', async () => {
    const data = { err: 'MaxLoadedAccountsDataSizeExceeded', logs: [] };
    const strict = senderBehind(({ id, method, params }, forward) => {
      const isUsual = Buffer.from(String(params[0]), 'base64').includes(USUAL_BYTES);
      if (!isUsual || method !== 'sendTransaction') return forward();
      return { jsonrpc: '2.0', id, ...refusal(-32_002, data) };
    });
    const [, , bytes] = await instructionsOf((await expectLanded(strict)).signature);
    // 64 MiB
    expect(bytes?.data).toBe('0400000004');
  });

  it.each(['ComputationalBudgetExceeded', 'ProgramFailedToComplete'])(
    'raises the limit of compute units once when the ledger says %s',
    async (name) => {
      const data = { err: { InstructionError: [0, name] }, logs: [] };
      const limits: number[] = [];
      const strict = senderBehind(({ id, method, params }, forward) => {
        if (method !== 'sendTransaction') return forward();
        limits.push(unitsIn(String(params[0])));
        return limits.length > 1 ? forward() : { jsonrpc: '2.0', id, ...refusal(-32_002, data) };
      });
      await expectLanded(strict);
      expect([...new Set(limits)]).toEqual([2_300, 8_300]);
    },
  );
});

describe('a sender without a ledger', () => {
  const unsent = { name: 'LedgerUnavailableError', signature: null };

  it('reports that, and nothing sent, without a node', async () => {
    const silent = senderBehind(() => Promise.reject(new Error('The connection was refused')));
    await expect(send(silent)).rejects.toMatchObject(unsent);
  });

  it('signs no waiting transaction once it is closed', async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const slow = nodeThat(async ({ method }, forward) => {
      if (method === 'getLatestBlockhash') {
        asked.resolve();
        await released.promise;
      }
      return forward();
    });
    const closed = createSender({ ...options(slow), submissionsMax: 1 });
    // One waits for the blockhash, the other for its turn.
    const ends = Promise.allSettled([send(closed), send(closed)]);
    await asked.promise;
    closed.close();
    released.resolve();
    expect(await ends).toMatchObject([{ reason: unsent }, { reason: unsent }]);
  });

  it('rejects every caller when closed, and lists abandoned transactions', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = senderBehind((request, forward) => {
      if (request.method === 'getSignatureStatuses') asked.resolve();
      return request.method === 'sendTransaction' ? accepted(request) : forward();
    });
    const given = send(closed);
    await asked.promise;
    closed.close();
    const abandoned = { ...unsent, signature: expect.any(String) };
    await expect(given).rejects.toMatchObject(abandoned);
    await expect(send(closed)).rejects.toMatchObject(unsent);
  });
});

describe('a wallet as signer', () => {
  const [person, other] = payers;
  type Sign = WalletSigner['signTransaction'];

  /** What a browser's wallet gives a page: the key stays in it. */
  function walletOf(keypair: Keypair, signTransaction?: Sign): WalletSigner {
    const sign: Sign = async (transaction) => {
      transaction.sign([keypair]);
      return transaction;
    };
    return { publicKey: keypair.publicKey, signTransaction: signTransaction ?? sign };
  }

  function sendBy(feePayer: Signer, signers: readonly Signer[] = []): Promise<SendResult> {
    const instructions = [feePayer, ...signers].map(({ publicKey }) => pay(undefined, publicKey));
    const by = createSender({ ...options(), feePayers: [feePayer] });
    return by.send({ instructions, signers, computeUnitLimit: 5_000 });
  }

  it('signs alone or beside a keypair, whichever of them pays', async () => {
    expect(await sendBy(walletOf(person))).toMatchObject({ status: 'landed' });
    expect(await sendBy(person, [walletOf(other)])).toMatchObject({ status: 'landed' });
    expect(await sendBy(walletOf(other), [person])).toMatchObject({ status: 'landed' });
  });

  const changing: Sign = async ({ message: { recentBlockhash } }) => {
    const content = { payerKey: person.publicKey, recentBlockhash, instructions: [pay(), pay()] };
    const changed = new TransactionMessage(content).compileToLegacyMessage();
    const transaction = new VersionedTransaction(changed);
    transaction.sign([person]);
    return transaction;
  };
  const named = `The wallet ${person.publicKey}`;
  it.each<[string, Sign, string]>([
    ['declines', () => Promise.reject(new Error('User rejected the request.')), 'User rejected'],
    ['changes the transaction', changing, `${named} changed the transaction`],
    ['returns it unsigned', async (given) => given, `${named} did not sign the transaction`],
  ])('ends the sending with one sentence when it %s', async (_what, sign, message) => {
    await expect(sendBy(walletOf(person, sign))).rejects.toThrow(message);
  });
});

/** The limit of compute units that a transaction asks for. */
function unitsIn(wire: string): number {
  const { instructions } = decodeTransaction(Buffer.from(wire, 'base64'));
  const limit = instructions.find(({ data }) => data[0] === 2 && data.length === 5);
  return Buffer.from(limit?.data ?? []).readUInt32LE(1);
}

async function instructionsOf(
  signature: string | null,
): Promise<{ program: PublicKey; data: string }[]> {
  const sent = await ledger.connection.getTransaction(String(signature), {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  });
  if (sent === null) throw new Error('The ledger does not have the transaction');
  const { staticAccountKeys, compiledInstructions } = sent.transaction.message;
  return compiledInstructions.map(({ programIdIndex, data }) => ({
    program: staticAccountKeys[programIdIndex] as PublicKey,
    data: Buffer.from(data).toString('hex'),
  }));
}
