import { afterAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { pino } from 'pino';
import { type Commitment, chooseCommitment } from '../../../common/net/commitment.ts';
import { PROGRAM_ID } from '../../../programs/client/addresses.ts';
import { connectRpc, type Rpc } from '../../../programs/client/rpc/rpc.ts';
import { createMovableTime } from '../../../testing/movableTime.ts';
import { createWorkerLedger } from '../../../worker/ledger/ledger.ts';
import { startRpcNode } from '../../client/rpcNode.ts';
import { type LocalnetScene, openLocalnet } from '../scene.ts';

async function chosenAt(url: string, chosen?: Commitment) {
  const lines: { msg: string; commitment?: string; because?: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const time = createMovableTime();
  const rpc = connectRpc({ url });
  const commitment = await time.advanceUntil(chooseCommitment({ chosen, rpc, logger, time }));
  expect(lines).toMatchObject([{ msg: 'Chose how sure the ledger has to be', commitment }]);
  return [commitment, lines[0]?.because];
}

describe('without SVC_COMMITMENT', () => {
  const ledgers: LocalnetScene[] = [];
  afterAll(() => Promise.all(ledgers.map((ledger) => ledger.close())));
  async function open(profile: 'development' | 'mainnet'): Promise<string> {
    const ledger = await openLocalnet({ profile });
    ledgers.push(ledger);
    return ledger.rpcUrl;
  }

  it('a ledger with Alpenglow is believed once it is final', async () => {
    const url = await open('mainnet');
    expect(await chosenAt(url)).toEqual(['finalized', 'the ledger has had Alpenglow since slot 0']);
    expect(await chosenAt(url, 'confirmed')).toEqual(['confirmed', 'SVC_COMMITMENT says so']);
  });

  it('a ledger before Alpenglow is believed once it confirms', async () => {
    const url = await open('development');
    expect(await chosenAt(url)).toEqual(['confirmed', 'the ledger does not have Alpenglow yet']);
    expect(await chosenAt(url, 'finalized')).toEqual(['finalized', 'SVC_COMMITMENT says so']);
  });

  it('a ledger is believed once it confirms if its node is too old or away', async () => {
    const node = await startRpcNode();
    node.says = (asked) => {
      const { id } = asked as { id: number };
      const error = { code: -32601, message: 'Method not found' };
      return { body: JSON.stringify({ jsonrpc: '2.0', id, error }) };
    };
    expect(await chosenAt(node.url)).toEqual(['confirmed', 'the node does not know of Alpenglow']);
    await node.close();
    expect(await chosenAt(node.url)).toEqual([
      'confirmed',
      'the node did not say whether it has Alpenglow',
    ]);
  });
});

it("a worker's reads wait for what it has chosen, and go by that", async () => {
  const asked: unknown[] = [];
  const rpc = {
    ask(_method: string, [, config]: readonly unknown[]) {
      asked.push(config);
      return Promise.reject(new Error('enough'));
    },
  } as unknown as Rpc;
  const chosen = Promise.withResolvers<Commitment>();
  const worker = Keypair.generate().publicKey;
  const ledger = createWorkerLedger({
    ...{ rpc, worker, programId: PROGRAM_ID, commitment: chosen.promise },
  });
  const reading = expect(ledger.readOwn()).rejects.toThrow('The ledger did not answer');
  chosen.resolve('finalized');
  await reading;
  expect(asked).toMatchObject([{ commitment: 'finalized' }]);
});
