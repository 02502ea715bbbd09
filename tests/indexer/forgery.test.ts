import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { decodeTransaction } from '../../indexer/fold/event.ts';
import { type ExecutedTransaction, PROGRAM_ID } from '../../programs/client/index.ts';
import { getTransaction } from '../../programs/client/rpc/methods.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { landUnchecked } from './landUnchecked.ts';

let scene: Scene;
/** A lock as the ledger shows it, and the bytes of its event. */
let lock: ExecutedTransaction & { meta: NonNullable<ExecutedTransaction['meta']> };
let eventData: Buffer;

beforeAll(async () => {
  scene = await createScene();
  await scene.lock();
  const [listed] = await scene.source.list({ commitment: 'confirmed', limit: 1 });
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
  lock = (await getTransaction(
    scene.ledger.rpc,
    String(listed?.signature),
    options,
  )) as typeof lock;
  eventData = Buffer.from(base58.decode(eventInstruction(lock).data));
});

afterAll(() => scene?.ledger.close());

function eventInstruction({ meta }: typeof lock) {
  const found = meta.innerInstructions?.flatMap(({ instructions }) => instructions).at(-1);
  if (!found) throw new Error('a lock has an event');
  return found;
}

function decode(executed: ExecutedTransaction) {
  return decodeTransaction({ signature: 'signature', slot: 1n }, executed, PROGRAM_ID).events;
}

/** Sends an unchecked instruction. @returns what the indexer makes of it */
async function sendUnchecked(instruction: TransactionInstruction) {
  const signature = await landUnchecked(scene.ledger, instruction);
  const page = await scene.source.list({ commitment: 'confirmed', limit: 5 });
  const listed = page.find((entry) => entry.signature === signature);
  if (!listed) throw new Error('the transaction is not listed');
  return { failed: listed.failed, ...(await scene.source.read(listed)) };
}

describe('an event', () => {
  it('is decoded when the program emitted it', () => {
    expect(decode(lock).map(({ name }) => name)).toEqual(['JobLocked']);
  });

  it("is refused when another account sends it in the program's name", async () => {
    const sent = await sendUnchecked(
      new TransactionInstruction({
        programId: PROGRAM_ID,
        keys: [{ pubkey: addresses.eventAuthority, isSigner: false, isWritable: false }],
        data: eventData,
      }),
    );
    expect(sent).toMatchObject({ failed: true, events: [] });
  });

  it('is not decoded from a transaction that only mentions the program', async () => {
    const { publicKey } = scene.ledger.payer;
    const payment = { fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 };
    const mention = SystemProgram.transfer(payment);
    mention.keys.push({ pubkey: PROGRAM_ID, isSigner: false, isWritable: false });
    expect(await sendUnchecked(mention)).toMatchObject({ failed: false, events: [] });
  });

  it('is not decoded from an inner instruction of another program', () => {
    const forged = structuredClone(lock);
    Object.assign(eventInstruction(forged), { programIdIndex: 0 });
    expect(decode(forged)).toEqual([]);
  });

  it('is not decoded from a call without its event authority’s signature', () => {
    const forged = structuredClone(lock);
    Object.assign(eventInstruction(forged), { accounts: [0] });
    expect(decode(forged)).toEqual([]);
  });

  it('is not missed in a message whose form is not known', () => {
    const transaction = { message: {} };
    const tagged = structuredClone({ ...lock, transaction });
    expect(() => decode(tagged)).toThrow('the accounts of the transaction are missing');
    const untagged = structuredClone(tagged);
    Object.assign(eventInstruction(untagged), { data: base58.encode(Buffer.from('no event')) });
    expect(decode(untagged)).toEqual([]);
  });

  it('is not decoded from a failed transaction', () => {
    const failed = { ...lock, meta: { ...lock.meta, err: { InstructionError: [0, 'Custom'] } } };
    expect(decode(failed)).toEqual([]);
  });
});
