import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { pino } from 'pino';
import { chooseVersion } from '../../common/net/transactionVersion.ts';
import { connectRpc } from '../../programs/client/rpc/rpc.ts';
import { startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { createMovableTime } from '../../testing/movableTime.ts';
import { startRpcNode } from '../client/rpcNode.ts';

let ledger: TestLedger;
let node: Awaited<ReturnType<typeof startRpcNode>>;

beforeAll(async () => {
  ledger = await startLedger();
});
afterAll(() => ledger?.close());
afterEach(() => node?.close());

async function chosenAt(
  url: string,
  {
    chosen = 'auto',
    payer = Keypair.generate().publicKey,
  }: { chosen?: 'auto' | 'legacy' | 1; payer?: PublicKey } = {},
) {
  const lines: { msg: string; version?: unknown; because?: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const time = createMovableTime();
  const choosing = chooseVersion({ chosen, rpc: connectRpc({ url }), payer, logger, time });
  const version = await time.advanceUntil(choosing);
  expect(lines).toMatchObject([{ msg: 'Chose the version of transactions', version }]);
  return [version, lines[0]?.because];
}

/** A node that answers each question like this. */
async function nodeSaying(answer: object): Promise<string> {
  node = await startRpcNode();
  node.says = (asked) => {
    const { id } = asked as { id: number };
    return { body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) };
  };
  return node.url;
}

const simulated = (err: unknown) => ({
  result: { context: { slot: 1 }, value: { err, logs: [], accounts: [] } },
});

describe('the version of the transactions that are sent', () => {
  const away = () => 'http://127.0.0.1:9';
  const takes = 'the node takes it';
  const setting = 'SVC_TRANSACTION_VERSION says so';
  const unreadable = { error: { code: -32_602, message: 'failed to deserialize' } };

  it.each<[unknown, string, () => string | Promise<string>, Parameters<typeof chosenAt>[1]?]>([
    // From a payer without SOL, too.
    [1, takes, () => ledger.rpcUrl],
    [
      'legacy',
      'the ledger does not take version 1 yet',
      () => nodeSaying(simulated('UnsupportedVersion')),
    ],
    ['legacy', 'the node does not know version 1', () => nodeSaying(unreadable)],
    ['legacy', 'the node did not say whether it takes version 1', away],
    ['legacy', setting, away, { chosen: 'legacy' }],
    [1, setting, away, { chosen: 1 }],
  ])('is %s where %s', async (...[version, because, url, options]) => {
    expect(await chosenAt(await url(), options)).toEqual([version, because]);
  });

  it('is 1 also from a payer with SOL, where the node takes it', async () => {
    const payer = ledger.payer.publicKey;
    expect(await chosenAt(ledger.rpcUrl, { payer })).toEqual([1, takes]);
  });
});
