import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { connectPooledRpc } from '../../../common/net/pooledRpc.ts';
import { sendVersionOne } from '../../../testing/ledger/versionOne.ts';
import { CALLS } from './calls.ts';
import { type Difference, differencesOf, normalize } from './compare.ts';
import { describeDifferences, unstated } from './differences.ts';
import { gatherNotifications } from './notifications.ts';
import { type ContractScene, newKeys, openScene } from './scene.ts';
import { openLocal, openOther, type Target } from './target.ts';

/** A validator with blocks of 400 ms takes its time. */
const SET_UP_MS = 300_000;

let local: Target;
let other: Target | string;
let scene: ContractScene;
let otherScene: ContractScene | undefined;
const found: Difference[] = [];

beforeAll(async () => {
  [local, other] = await Promise.all([openLocal(), openOther()]);
  const keys = newKeys();
  scene = await openScene(local, keys);
  if (typeof other !== 'string') otherScene = await openScene(other, keys);
}, SET_UP_MS);

afterAll(async () => {
  if (typeof other !== 'string') await other.close();
  await local.close();
  process.stderr.write(
    typeof other === 'string' ? `${other}\n` : describeDifferences(found, other.name),
  );
});

const nameOf = (target: Target | string) => (typeof target === 'string' ? target : target.name);

function expectSame(place: string, one: unknown, two: unknown): void {
  const differences = differencesOf(one, two, place);
  found.push(...differences);
  expect(unstated(differences, nameOf(other))).toEqual([]);
}

/** A transfer of version 1, as a node shows it to those who read that version, and to others. */
async function showVersionOne({ rpcUrl }: Target, { payer, to, call, names }: ContractScene) {
  const rpc = connectPooledRpc({ url: rpcUrl });
  const pay = { fromPubkey: payer.publicKey, toPubkey: to, lamports: 5_000_002 };
  const signature = await sendVersionOne({ rpc }, [SystemProgram.transfer(pay)], [payer]);
  const show = (encoding: string, maxSupportedTransactionVersion: number) =>
    call('getTransaction', [
      signature,
      { commitment: 'confirmed', encoding, maxSupportedTransactionVersion },
    ]);
  const answers = {
    json: await show('json', 1),
    jsonParsed: await show('jsonParsed', 1),
    refused: await show('json', 0),
  };
  return normalize(answers, names);
}

describe('the local ledger matches another ledger', () => {
  it('in the notifications of one transfer', async () => {
    const received = normalize(await gatherNotifications(local, scene), scene.names) as object;
    expect(Object.values(received)).not.toContain(undefined);
    if (!otherScene || typeof other === 'string') return;
    const others = normalize(await gatherNotifications(other, otherScene), otherScene.names);
    expectSame('subscription', received, others);
  });

  it.each(CALLS)('in $name', async ({ name, method, params, isRefused }) => {
    const ask = async (on: ContractScene) =>
      normalize(await on.call(method, await params(on)), on.names);
    const answer = await ask(scene);
    expect(answer).toHaveProperty(isRefused ? 'error' : 'result');
    if (otherScene) expectSame(name, answer, await ask(otherScene));
  });

  // The last, since only a validator has the transfer, too.
  it('in a transaction of version 1, which surfpool does not know', async () => {
    const answers = await showVersionOne(local, scene);
    expect(answers).toMatchObject({ json: { result: { version: 1 } }, refused: { error: {} } });
    if (!otherScene || typeof other === 'string' || other.name === 'surfpool') return;
    expectSame('version 1', answers, await showVersionOne(other, otherScene));
  });
});
