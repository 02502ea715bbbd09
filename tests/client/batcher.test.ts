import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import {
  type Batcher,
  createBatcher,
  createSender,
  type Sender,
  type SendResult,
  WithdrawnError,
} from '../../programs/client/sender/index.ts';
import { LONG_BLOCKHASH_MS, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';

const NEVER_MS = 3_600_000;
const TOO_MUCH = 1e17;
const LANDED: SendResult = { status: 'landed', signature: 'a signature', slot: 2 };
const REFUSAL = { name: '{"Custom":1}', code: null };

const payee = Keypair.generate();
let ledger: TestLedger;
let sender: Sender;
let lamports = 0;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  await ledger.fundLamports(payee.publicKey, 1e9);
  sender = createSender({
    rpc: ledger.rpc,
    feePayers: [ledger.payer],
    commitment: 'confirmed',
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
});

afterAll(async () => {
  sender.close();
  await ledger.close();
});

function batcher(options: Partial<Parameters<typeof createBatcher>[0]> = {}): Batcher {
  return createBatcher({
    sender,
    lingerMs: NEVER_MS,
    ...options,
  });
}

/** An item of two payments, of which the second may be one that is refused. */
function item(key: string, second = 1, to: PublicKey = payee.publicKey) {
  const fromPubkey = ledger.payer.publicKey;
  lamports += 1;
  const payment = (amount: number) =>
    SystemProgram.transfer({ fromPubkey, toPubkey: to, lamports: amount });
  const costs = Array(2).fill({ computeUnits: 500, calls: 1 });
  return { key, signers: [], costs, instructions: [payment(lamports), payment(second)] };
}

/** It pays an account that does not exist yet. */
const itemOfNewcomer = (key: string) => item(key, 1e9, Keypair.generate().publicKey);

/** A sender whose ledger says this of a transaction with so many instructions. */
function answering(answer: (count: number) => SendResult): Sender {
  return {
    ...sender,
    async send({ instructions }) {
      const own = typeof instructions === 'function' ? instructions(payee.publicKey) : instructions;
      return answer(own.length);
    },
  };
}

function signatures(outcomes: SendResult[]): Set<string | null> {
  return new Set(outcomes.map(({ signature }) => signature));
}

describe('the batcher', () => {
  it('sends at once when idle, and batches what arrives in between', async () => {
    const batch = batcher();
    const first = batch.add(item('first'));
    await Promise.resolve();
    const others = await Promise.all(['a', 'b', 'c', 'd'].map((key) => batch.add(item(key))));
    expect((await first).status).toBe('landed');
    expect(others.map(({ status }) => status)).toEqual(Array(4).fill('landed'));
    expect(signatures(others).size).toBe(1);
    expect(signatures([await first, ...others]).size).toBe(2);
  });

  it('sends at once what is as many as may share a transaction', async () => {
    const batch = batcher({ idleLingerMs: NEVER_MS, itemsMax: 2 });
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((key) => batch.add(item(key))));
    expect(signatures(outcomes).size).toBe(2);
  });

  it('waits at most for its linger time', async () => {
    const batch = batcher({ idleLingerMs: 30 });
    const outcomes = await Promise.all(['a', 'b'].map((key) => batch.add(item(key))));
    expect(signatures(outcomes).size).toBe(1);
  });

  it('drops an item that fails a batch, and resends the others', async () => {
    const batch = batcher();
    const [good, bad, alsoGood] = await Promise.all([
      batch.add(item('good')),
      batch.add(item('bad', TOO_MUCH)),
      batch.add(item('also good')),
    ]);
    expect(good.status).toBe('landed');
    expect(alsoGood.signature).toBe(good.signature);
    expect(bad).toMatchObject({
      status: 'failed',
      error: { ...REFUSAL, instructionIndex: 1 },
    });
  });

  it('finds the faulty item when the ledger names no instruction', async () => {
    const batch = batcher();
    const [poor, ...others] = await Promise.all([
      batch.add(item('poor', 1, Keypair.generate().publicKey)),
      ...['a', 'b', 'c', 'd'].map((key) => batch.add(item(key))),
    ]);
    expect(poor).toMatchObject({ status: 'failed', error: { instructionIndex: null } });
    expect(others.map(({ status }) => status)).toEqual(Array(4).fill('landed'));
    const [apart, one, other] = await Promise.all(
      ['poor', 'e', 'f'].map((key) => batch.add(item(key))),
    );
    expect(one?.signature).toBe(other?.signature);
    expect(apart?.signature).not.toBe(one?.signature);
  });

  it('separates a caller that broke a batch for a minute', async () => {
    const batch = batcher();
    await Promise.all([batch.add(item('peaceful')), batch.add(item('breaker', TOO_MUCH))]);
    const addThree = async () => {
      const keys = ['breaker', 'one', 'other'];
      const outcomes = await Promise.all(keys.map((key) => batch.add(item(key))));
      expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('landed'));
      return outcomes.map(({ signature }) => signature);
    };
    const [breaker, one, other] = await addThree();
    expect(other).toBe(one);
    expect(breaker).not.toBe(one);

    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    const signaturesLater = await addThree();
    later.mockRestore();
    expect(new Set(signaturesLater).size).toBe(1);
  });

  it.each([
    ['what does not fit', undefined],
    [
      'what turns out not to fit',
      { feePayer: payee.publicKey, take: () => true, isFullFor: () => false },
    ],
  ])('splits %s into further transactions', async (_what, room) => {
    const batch = batcher(room && { sender: { ...sender, room: () => room } });
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => batch.add(itemOfNewcomer(`${index}`))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array(30).fill('landed'));
    expect(signatures(outcomes).size).toBeGreaterThan(1);
  });

  it('sends what fills a transaction while others are in flight', async () => {
    const released = Promise.withResolvers<SendResult>();
    const counts: number[] = [];
    const busy: Sender = {
      ...answering((count) => {
        counts.push(count);
        return LANDED;
      }),
    };
    const { send } = busy;
    busy.send = async (sending) => {
      await send(sending);
      return counts.length === 1 ? released.promise : LANDED;
    };
    const batch = batcher({ sender: busy });
    const first = batch.add(item('first'));
    await turn();
    // Each brings no key that is not there already, so that bytes alone bound their number.
    const others = Array.from({ length: 60 }, (_, index) => batch.add(item(`${index}`)));
    await turn();
    expect(counts.length).toBeGreaterThan(1);
    released.resolve(LANDED);
    expect(await Promise.all([first, ...others])).toEqual(Array(61).fill(LANDED));
  });

  it('takes the companions first that share its keys', async () => {
    const batch = batcher();
    /** It brings two keys of its own. */
    const stranger = () => {
      const [one, other] = [itemOfNewcomer('stranger'), itemOfNewcomer('stranger')];
      const instructions = [...one.instructions, ...other.instructions];
      return { ...one, instructions, costs: [...one.costs, ...other.costs] };
    };
    const outcomes = await Promise.all([
      batch.add(item('first')),
      ...Array.from({ length: 10 }, () => batch.add(stranger())),
      batch.add(item('second')),
    ]);
    expect(outcomes.at(-1)?.signature).toBe(outcomes[0]?.signature);
    expect(signatures(outcomes).size).toBe(2);
  });

  it('sends each of the others alone after a fault in a block', async () => {
    const counts: number[] = [];
    const inBlock: SendResult = {
      ...{ status: 'failed', signature: 'a signature', slot: 1 },
      error: { name: 'WrongJobStatus', code: 6_001, instructionIndex: 0 },
    };
    const batch = batcher({
      sender: answering((count) => {
        counts.push(count);
        return count > 2 ? inBlock : LANDED;
      }),
    });
    const outcomes = await Promise.all(['a', 'b', 'c'].map((key) => batch.add(item(key))));
    expect(outcomes).toMatchObject([{ error: { name: 'WrongJobStatus' } }, LANDED, LANDED]);
    expect(counts).toEqual([6, 2, 2]);
  });

  it('sends alone an item that an earlier item may have made fail', async () => {
    const error = { ...REFUSAL, instructionIndex: 2 };
    const refused: SendResult = { status: 'failed', signature: null, slot: 1, error };
    const batch = batcher({ sender: answering((count) => (count > 2 ? refused : LANDED)) });
    const outcomes = await Promise.all(['a', 'b'].map((key) => batch.add(item(key))));
    expect(outcomes).toEqual([LANDED, LANDED]);
  });

  it.each(['AccountNotFound', 'WouldExceedMaxBlockCostLimit'])(
    'blames no item when its transaction is refused for %s',
    async (name) => {
      let sent = 0;
      const error = { name, code: null, instructionIndex: null };
      const refused: SendResult = { status: 'failed', signature: null, slot: 1, error };
      const sender = answering(() => {
        sent += 1;
        return refused;
      });
      const batch = batcher({ sender });
      for (let round = 1; round <= 2; round += 1) {
        const outcomes = await Promise.all(['a', 'b'].map((key) => batch.add(item(key))));
        expect(outcomes).toEqual([refused, refused]);
        expect(sent).toBe(round);
      }
    },
  );

  it('returns an unsent item once', async () => {
    const batch = batcher({ idleLingerMs: 30 });
    const taken = batch.add(item('taken'));
    const kept = batch.add(item('kept'));
    expect(batch.take('taken')).toBe(true);
    expect(batch.take('taken')).toBe(false);
    expect((await kept).status).toBe('landed');
    expect(batch.take('kept')).toBe(false);
    expect(await Promise.race([taken, 'pending'])).toBe('pending');
  });

  it('omits items that were withdrawn before signing', async () => {
    const batch = batcher({ idleLingerMs: 30 });
    let isWanted = true;
    const sent: string[] = [];
    const withdrawn = batch.add({
      ...{ ...item('withdrawn'), isWanted: () => isWanted },
      onSent: () => void sent.push('withdrawn'),
    });
    const ended = expect(withdrawn).rejects.toBeInstanceOf(WithdrawnError);
    const newcomer = Keypair.generate().publicKey;
    const onSent = () => void sent.push('kept');
    const kept = batch.add({ ...item('kept', 1e9, newcomer), onSent });
    isWanted = false;
    expect((await kept).status).toBe('landed');
    await ended;
    expect(sent).toEqual(['kept']);
  });

  it('sends nothing when all items are withdrawn', async () => {
    const batch = batcher();
    const payer = ledger.payer.publicKey;
    const lamportsBefore = await ledger.connection.getBalance(payer);
    const isWanted = () => false;
    const ends = ['a', 'b'].map((key) => batch.add({ ...item(key), isWanted }));
    for (const { status } of await Promise.allSettled(ends)) expect(status).toBe('rejected');
    expect(await ledger.connection.getBalance(payer)).toBe(lamportsBefore);
  });

  it('abandons waiting items when it is closed', async () => {
    const batch = batcher({ idleLingerMs: NEVER_MS });
    const waiting = batch.add(item('waiting'));
    batch.close();
    await expect(waiting).rejects.toMatchObject({
      name: 'LedgerUnavailableError',
      signature: null,
    });
  });
});
