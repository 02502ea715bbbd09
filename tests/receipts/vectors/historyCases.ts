import {
  AddressLookupTableProgram,
  type PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { associatedTokenAddress } from '../../../programs/client/token/instructions.ts';
import { complete } from '../../../testing/kit/jobInstructions.ts';
import { makeHistory } from '../../../testing/ledger/history.ts';
import { createJobScene, type JobScene } from '../../../testing/ledger/jobScene.ts';
import { callLedger } from '../../../testing/ledger/ledger.ts';
import { conditionCases, honest } from './conditions/condition.ts';
import type { NodeCases } from './endedCases.ts';
import { recordJobs } from './record.ts';

const NODE = 'strangers';

/**
 * Jobs that strangers mention, prove, refund and let expire, between a purchase and a withdrawal. One
 * has a transaction of version 0 whose accounts a table loads.
 */
export async function historyCases(): Promise<NodeCases> {
  const scene = await createJobScene();
  try {
    const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    const loaded = locked?.address as PublicKey;
    await completeByTable(scene, loaded);
    const { settled, refunded, expired } = await makeHistory(scene);
    const jobs = {
      'mentioned, and proven by a stranger': settled,
      'refunded by a stranger': refunded,
      'a dispute that a stranger let expire': expired,
      'with accounts that a table loads': loaded,
    };
    const node = await recordJobs(scene, Object.values(jobs));
    const conditions = Object.entries(jobs).map(([name, job]) => honest(name, job));
    return { name: NODE, node, cases: await conditionCases(NODE, node, conditions) };
  } finally {
    await scene.ledger.close();
  }
}

/** By a transaction of version 0, which loads all accounts but the signer from a table. */
async function completeByTable(scene: JobScene, job: PublicKey): Promise<void> {
  const { ledger, service } = scene;
  const { connection, payer } = ledger;
  const authority = payer.publicKey;
  const by = { authority, payer: authority };
  const payout = associatedTokenAddress(service.mints.credit, service.workerAuthority.publicKey);
  const instruction = complete({ ...service, payout }, job);
  const recentSlot = await connection.getSlot('finalized');
  const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({ ...by, recentSlot });
  const addresses = instruction.keys.flatMap(({ pubkey, isSigner }) => (isSigner ? [] : [pubkey]));
  await scene.send(
    [create, AddressLookupTableProgram.extendLookupTable({ ...by, lookupTable, addresses })],
    [],
  );
  // A table's new entries can be used in the next slot.
  await callLedger(ledger.rpcUrl, 'localnet_skipSlots', [2]);
  const { value: table } = await connection.getAddressLookupTable(lookupTable);
  if (!table) throw new Error('there is no table');
  const { blockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({
    ...{ payerKey: authority, recentBlockhash: blockhash, instructions: [instruction] },
  }).compileToV0Message([table]);
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer, service.hotSigner]);
  await connection.sendTransaction(transaction);
}
