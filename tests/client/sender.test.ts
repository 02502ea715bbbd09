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
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
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
import { accepted } from '../../testing/ledger/interceptedConnection.ts';
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

const logger = createLogger({ name: 'test', level: 'silent' });
const payers = [Keypair.generate(), Keypair.generate()] as const;
let ledger: TestLedger;
let sender: Sender;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  for (const { publicKey } of payers) await ledger.fundLamports(publicKey, 1e12);
  sender = createSender(options(ledger.rpc));
});

afterAll(async () => {
  sender.close();
  await ledger.close();
});

function options(rpc: Rpc) {
  return { rpc, feePayers: payers, commitment: 'confirmed' as const, logger, repeatMs: 50 };
}

function pay(lamports: number, from = payers[0].publicKey): TransactionInstruction {
  const toPubkey = payers[1].publicKey;
  return SystemProgram.transfer({ fromPubkey: from, toPubkey, lamports });
}

function send(instructions: TransactionInstruction[], by = sender): Promise<SendResult> {
  return by.send({ instructions, signers: [payers[0]], computeUnitLimit: 2_000 });
}

describe('the sender', () => {
  it('confirms a transaction and returns its signature and slot', async () => {
    const outcome = await send([pay(1)]);
    expect(outcome.status).toBe('landed');
    const [status] = (await ledger.connection.getSignatureStatuses([String(outcome.signature)]))
      .value;
    expect(status).toMatchObject({ err: null, slot: outcome.slot });
  });

  it('appends its limits after the instructions, which keep their positions', async () => {
    const { signature } = await send([pay(2), pay(3)]);
    const [first, second, units, bytes] = await instructionsOf(String(signature));
    expect([first?.program, second?.program]).toEqual(Array(2).fill(SystemProgram.programId));
    // 2,000 units for the instructions and 150 for each limit; 512 KiB of accounts.
    const program = ComputeBudgetProgram.programId;
    expect(units).toEqual({ program, data: '02fc080000' });
    expect(bytes).toEqual({ program, data: '0400000800' });

    const priced = createSender({ ...options(ledger.rpc), priorityFee: async () => 1_000 });
    const dearer = await send([pay(8)], priced);
    const [, moreUnits, , price] = await instructionsOf(String(dearer.signature));
    expect([moreUnits?.data, price?.data]).toEqual(['0292090000', '03e803000000000000']);
    priced.close();
  });

  it.each(['a blockhash', 'its fee'])(
    'neither signs nor sends what was cancelled while it waited for %s',
    async (what) => {
      const asked = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const hold = () => {
        asked.resolve();
        return released.promise;
      };
      const methods: string[] = [];
      const node = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
        methods.push(request.method);
        if (what === 'a blockhash') await hold();
        return forward(request);
      });
      const priorityFee = async () => {
        if (what === 'its fee') await hold();
        return 0;
      };
      const slow = createSender({ ...options(node), priorityFee });
      let isWanted = true;
      const sending = slow.send({
        instructions: [pay(10)],
        signers: [payers[0]],
        computeUnitLimit: 2_000,
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

  it('continues after any number of cancelled transactions', async () => {
    const unwanted = { instructions: [pay(11)], signers: [payers[0]], computeUnitLimit: 2_000 };
    for (let given = 0; given < 5_000; given += 1) {
      const sending = sender.send({ ...unwanted, isWanted: () => false });
      await expect(sending).rejects.toBeInstanceOf(WithdrawnError);
    }
    expect((await send([pay(12)])).status).toBe('landed');
  });

  it('returns which instruction was refused, and why, without a fee', async () => {
    const before = await ledger.connection.getBalance(payers[0].publicKey);
    expect(await send([pay(9), pay(1e17)])).toEqual({
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
    const mixed = createSender({
      ...options(ledger.rpc),
      feePayers,
      logger: createLogger({ name: 'test', level: 'error', into }),
    });
    for (const lamports of [40, 41, 42, 43]) {
      expect((await send([pay(lamports)], mixed)).status).toBe('landed');
    }
    expect(reported).toEqual([feePayers[0]?.publicKey.toBase58()]);
    mixed.close();
  });

  it('uses another fee payer when one is below rent exemption', async () => {
    const poor = Keypair.generate();
    const fees = 1_000_000;
    await ledger.fundLamports(poor.publicKey, fees);
    const mixed = createSender({
      ...options(ledger.rpc),
      feePayers: [poor, payers[0]],
    });
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
    const many = Array.from({ length: 40 }, () => pay(11, Keypair.generate().publicKey));
    await expect(send(many)).rejects.toBeInstanceOf(TransactionTooLargeError);
  });

  it('returns the outcome of one transaction to both of its callers', async () => {
    const outcomes = await Promise.all([send([pay(15)]), send([pay(15)])]);
    expect(outcomes.map(({ status }) => status)).toEqual(['landed', 'landed']);
  });

  it('polls two hundred transactions in flight with shared calls', async () => {
    let questions = 0;
    const counted = interceptedRpc(ledger.rpcUrl, (request, forward) => {
      if (request.method === 'getSignatureStatuses') questions += 1;
      return forward(request);
    });
    const busy = createSender(options(counted));
    const payments = Array.from({ length: 200 }, (_, index) => send([pay(1_000 + index)], busy));
    const outcomes = await Promise.all(payments);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(200).fill('landed'));
    expect(questions).toBeLessThan(150);
    busy.close();
  });
});

describe('the sender with an unreliable node', () => {
  let lamports = 100;

  it('returns the ledger’s error of a transaction that failed in a block', async () => {
    const unchecked = interceptedRpc(ledger.rpcUrl, (request, forward) => {
      const [wire, config] = request.params;
      const params = [wire, { ...Object(config), skipPreflight: true }];
      return forward(request.method === 'sendTransaction' ? { ...request, params } : request);
    });
    const outcome = await send([pay(1e17)], createSender(options(unchecked)));
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
    const faulty = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method !== 'sendTransaction' || ++sendings > 1) return forward(request);
      return { jsonrpc: '2.0', id: request.id, ...(await first(() => forward(request))) };
    });
    lamports += 1;
    expect((await send([pay(lamports)], createSender(options(faulty)))).status).toBe('landed');
    expect(sendings).toBeGreaterThan(0);
  });

  it('reports a transaction as expired after its blockhash, without a status', async () => {
    const swallowing = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method !== 'sendTransaction') return forward(request);
      await advanceSeconds(ledger.connection, EXPIRY_SECONDS);
      return accepted(request);
    });
    const outcome = await send([pay(22)], createSender(options(swallowing)));
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
    const forgetful = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      const answer = await forward(request);
      const [signatures, config] = request.params as [
        string[],
        { searchTransactionHistory: boolean },
      ];
      if (request.method !== 'getSignatureStatuses' || config.searchTransactionHistory)
        return answer;
      const { result } = answer as { result: { value: (object | null)[] } };
      if (!hasLanded && result.value.some(Boolean)) {
        hasLanded = true;
        await advanceSeconds(ledger.connection, EXPIRY_SECONDS);
      }
      return { ...answer, result: { ...result, value: signatures.map(() => null) } };
    });
    expect((await send([pay(23)], createSender(options(forgetful)))).status).toBe('landed');
  });

  it('gives up no transaction in the last block in which it may land', async () => {
    let lastValid = Number.NaN;
    let isLast = false;
    const atTheEnd = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method === 'sendTransaction' && !isLast) return accepted(request);
      const answer = await forward(request);
      const { result } = answer as { result: { value: { lastValidBlockHeight: number } } };
      if (request.method === 'getLatestBlockhash') lastValid = result.value.lastValidBlockHeight;
      if (request.method !== 'getEpochInfo') return answer;
      isLast = true;
      return { ...answer, result: { ...result, blockHeight: lastValid } };
    });
    expect((await send([pay(28)], createSender(options(atTheEnd)))).status).toBe('landed');
  });

  it('does not trust a node that is behind about an expired transaction', async () => {
    let heightSlot = 1;
    let asked = 0;
    const behind = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      const answer = await forward(request);
      const { result } = answer as { result: { absoluteSlot: number; blockHeight: number } };
      if (request.method === 'getEpochInfo') {
        heightSlot = result.absoluteSlot;
        return { ...answer, result: { ...result, blockHeight: result.blockHeight + 100_000 } };
      }
      if (request.method !== 'getSignatureStatuses') return answer;
      const [signatures, config] = request.params as [
        string[],
        { searchTransactionHistory: boolean },
      ];
      if (config.searchTransactionHistory && ++asked > 1) return answer;
      const context = { slot: heightSlot - 1 };
      return { ...answer, result: { context, value: signatures.map(() => null) } };
    });
    expect((await send([pay(29)], createSender(options(behind)))).status).toBe('landed');
    expect(asked).toBeGreaterThan(1);
  });

  it('does not trust a block that may still be dropped', async () => {
    let asked = 0;
    const forked = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      const answer = await forward(request);
      if (request.method !== 'getSignatureStatuses' || ++asked > 3) return answer;
      const { result } = answer as { result: { context: { slot: number } } };
      const failed = { slot: result.context.slot, confirmations: 0, err: 'AccountNotFound' };
      const value = [{ ...failed, confirmationStatus: 'processed' }];
      return { ...answer, result: { ...result, value } };
    });
    expect((await send([pay(35)], createSender(options(forked)))).status).toBe('landed');
    expect(asked).toBeGreaterThan(3);
  });

  it('requires the newest known slot when a node checks a transaction', async () => {
    const checkedAt: (number | never[])[] = [];
    const behind = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      const [, checks] = request.params as [string, { minContextSlot?: number } | undefined];
      // What is sent once more is not checked.
      if (request.method === 'sendTransaction') checkedAt.push(checks?.minContextSlot ?? []);
      const answer = await forward(request);
      if (request.method !== 'getLatestBlockhash') return answer;
      const { result } = answer as { result: object };
      return { ...answer, result: { ...result, context: { slot: 1 } } };
    });
    const by = createSender(options(behind));
    const { slot } = await send([pay(36)], by);
    expect((await send([pay(37)], by)).status).toBe('landed');
    expect(checkedAt.flat()).toEqual([1, slot]);
  });

  it('uses the lowest slot when several nodes answer together', async () => {
    const slots = [9, 5];
    const several = interceptedRpc(ledger.rpcUrl, async ({ id, params }) => {
      const value = (params[0] as string[]).map(() => null);
      return { jsonrpc: '2.0', id, result: { context: { slot: slots.shift() }, value } };
    });
    const signatures = Array.from({ length: 300 }, (_, index) => `signature ${index}`);
    const history = { searchTransactionHistory: true };
    const { slot, value } = await getSignatureStatuses(several, signatures, history);
    expect([slot, value.length]).toEqual([5, signatures.length]);
  });

  it('signs no waiting transaction once it is closed', async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const slow = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method === 'getLatestBlockhash') {
        asked.resolve();
        await released.promise;
      }
      return forward(request);
    });
    const closed = createSender({ ...options(slow), submissionsMax: 1 });
    // One waits for the blockhash, the other for its turn.
    const ends = Promise.allSettled([send([pay(40)], closed), send([pay(41)], closed)]);
    await asked.promise;
    closed.close();
    released.resolve();
    const reason = { name: 'LedgerUnavailableError', signature: null };
    expect(await ends).toMatchObject([{ reason }, { reason }]);
  });

  it('signs again when the ledger no longer has the blockhash', async () => {
    let stale: object | undefined;
    const behind = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method !== 'getLatestBlockhash') return forward(request);
      const answer = await forward(request);
      const first = stale === undefined;
      stale ??= { ...answer, result: withBlockhash(answer, Keypair.generate().publicKey) };
      return first ? stale : answer;
    });
    expect((await send([pay(24)], createSender(options(behind)))).status).toBe('landed');
  });

  it('raises the limit of loaded data to the maximum where accounts need it', async () => {
    const refusal = { err: 'MaxLoadedAccountsDataSizeExceeded', logs: [] };
    const strict = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      const isUsual = Buffer.from(String(request.params[0]), 'base64').includes(USUAL_BYTES);
      const { id, method } = request;
      if (!isUsual || method !== 'sendTransaction') return forward(request);
      return { jsonrpc: '2.0', id, error: { code: -32_002, message: 'refused', data: refusal } };
    });
    const patient = createSender(options(strict));
    const { status, signature } = await send([pay(77)], patient);
    expect(status).toBe('landed');
    const [, , bytes] = await instructionsOf(String(signature));
    // 64 MiB
    expect(bytes?.data).toBe('0400000004');
    patient.close();
  });

  it.each(['ComputationalBudgetExceeded', 'ProgramFailedToComplete'])(
    'raises the limit of compute units once when the ledger says %s',
    async (name) => {
      const refusal = { err: { InstructionError: [0, name] }, logs: [] };
      const limits: number[] = [];
      const strict = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
        const { id, method, params } = request;
        if (method !== 'sendTransaction') return forward(request);
        const [units] = unitsIn(String(params[0]));
        limits.push(units as number);
        if (limits.length > 1) return forward(request);
        return { jsonrpc: '2.0', id, error: { code: -32_002, message: 'refused', data: refusal } };
      });
      const patient = createSender(options(strict));
      expect((await send([pay(78 + limits.length)], patient)).status).toBe('landed');
      expect([...new Set(limits)]).toEqual([2_300, 8_300]);
      patient.close();
    },
  );

  it('reports an unavailable ledger, and nothing sent, without a node', async () => {
    const silent = interceptedRpc(ledger.rpcUrl, async () => {
      throw new Error('The connection was refused');
    });
    const failed = send([pay(25)], createSender(options(silent)));
    await expect(failed).rejects.toMatchObject({
      name: 'LedgerUnavailableError',
      signature: null,
    });
  });

  it('rejects every caller when closed, and lists abandoned transactions', async () => {
    const asked = Promise.withResolvers<void>();
    const swallowing = interceptedRpc(ledger.rpcUrl, async (request, forward) => {
      if (request.method === 'getSignatureStatuses') asked.resolve();
      return request.method === 'sendTransaction' ? accepted(request) : forward(request);
    });
    const closed = createSender(options(swallowing));
    const given = send([pay(26)], closed);
    await asked.promise;
    closed.close();
    const name = 'LedgerUnavailableError';
    await expect(given).rejects.toMatchObject({ name, signature: expect.any(String) });
    await expect(send([pay(27)], closed)).rejects.toMatchObject({ name, signature: null });
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
    const instructions = [feePayer, ...signers].map(({ publicKey }) => pay(1, publicKey));
    const by = createSender({ ...options(ledger.rpc), feePayers: [feePayer] });
    return by.send({ instructions, signers, computeUnitLimit: 5_000 });
  }

  it('signs alone or beside a keypair, whichever of them pays', async () => {
    expect(await sendBy(walletOf(person))).toMatchObject({ status: 'landed' });
    expect(await sendBy(person, [walletOf(other)])).toMatchObject({ status: 'landed' });
    expect(await sendBy(walletOf(other), [person])).toMatchObject({ status: 'landed' });
  });

  const changing: Sign = async ({ message: { recentBlockhash } }) => {
    const instructions = [pay(1), pay(2)];
    const changed = new TransactionMessage({
      payerKey: person.publicKey,
      recentBlockhash,
      instructions,
    });
    const transaction = new VersionedTransaction(changed.compileToLegacyMessage());
    transaction.sign([person]);
    return transaction;
  };
  it.each<[string, Sign, string]>([
    ['declines', () => Promise.reject(new Error('User rejected the request.')), 'User rejected'],
    ['changes the transaction', changing, `The wallet ${person.publicKey} changed the transaction`],
    [
      'returns it unsigned',
      async (transaction) => transaction,
      `The wallet ${person.publicKey} did not sign the transaction`,
    ],
  ])('ends the sending with one sentence when it %s', async (_what, sign, message) => {
    await expect(sendBy(walletOf(person, sign))).rejects.toThrow(message);
  });
});

/** The limits of compute units that a transaction asks for. */
function unitsIn(wire: string): number[] {
  const { instructions } = decodeTransaction(Buffer.from(wire, 'base64'));
  return instructions
    .filter(({ data }) => data[0] === 2 && data.length === 5)
    .map(({ data }) => Buffer.from(data).readUInt32LE(1));
}

function withBlockhash(answer: object, blockhash: PublicKey): object {
  const { result } = answer as { result: { value: object } };
  return { ...result, value: { ...result.value, blockhash: blockhash.toBase58() } };
}

async function instructionsOf(signature: string): Promise<{ program: PublicKey; data: string }[]> {
  const sent = await ledger.connection.getTransaction(signature, {
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
