import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { readSignedMessage } from '../../cli/instructionInput.ts';
import { fetchJob, type SignedMessage, sign, signHashed } from '../../programs/client/index.ts';
import { runCli } from '../../testing/cli.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { conflictingProofs } from '../../testing/kit/jobInstructions.ts';
import { advanceToVerdict } from '../../testing/ledger/disputes.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const folder = ownFolder('signed-message');
let scene: Scene;
let job: PublicKey;
let proofs: [SignedMessage, SignedMessage];

/** A disputed job that can be judged, and the proofs that convict its worker. */
beforeAll(async () => {
  scene = await createScene();
  [job] = (await scene.lock()) as [PublicKey];
  await scene.acknowledge(job);
  await scene.settle(job);
  await scene.dispute(job);
  const { connection } = scene.ledger;
  const account = await fetchJob(connection, job);
  if (!account) throw new Error('the job is not on the ledger');
  proofs = conflictingProofs(scene.service, job, account);
  await advanceToVerdict(connection, account);
  await scene.ledger.fundLamports(scene.service.arbiter.publicKey, LAMPORTS_PER_SOL);
});

afterAll(async () => {
  await scene?.ledger.close();
});

let count = 0;
function writeFile(content: string): string {
  count += 1;
  const path = join(folder, `${count}.json`);
  writeFileSync(path, content);
  return path;
}

const fieldsOf = ({ publicKey, message, signature }: SignedMessage) => ({
  public_key: publicKey.toBase58(),
  message: Buffer.from(message).toString('hex'),
  signature: base58.encode(signature),
});
const write = (signed: SignedMessage) => writeFile(JSON.stringify(fieldsOf(signed)));

async function decide(signed: readonly SignedMessage[]) {
  const { arbiter, creditAccount, worker } = scene.service;
  const { error, code } = await runCli([
    ...['send', 'dispute_resolve', '--rpc', scene.ledger.rpcUrl],
    ...['--signer', JSON.stringify([...arbiter.secretKey])],
    ...signed.flatMap((one) => ['--signed-message', write(one)]),
    ...[`arbiter=${arbiter.publicKey}`, `job=${job}`, `credit_account=${creditAccount}`],
    ...[`worker=${worker}`, 'verdict=upheld_worker'],
  ]);
  return { code, last: error.trimEnd().split('\n').at(-1) };
}

describe('svc send with signed messages', () => {
  it('is refused by the program where evidence is missing or of another key', async () => {
    const refused = (by: string) => ({
      code: 1,
      last: `The escrow program refused dispute_resolve: ${by}. Nothing was changed.`,
    });
    expect(await decide([])).toEqual(refused('ProofWrongKey'));
    const { message } = proofs[1];
    const hotSigner = scene.service.hotSigner;
    const strange = { publicKey: hotSigner.publicKey, message };
    const signed = { ...strange, signature: signHashed(message, hotSigner) };
    expect(await decide([signed, signed])).toEqual(refused('ProofWrongKey'));
    // Both messages are verified with the first one's key.
    expect(await decide([proofs[0], signed])).toEqual(refused('SignatureInvalid'));
  });

  it('is refused before it is sent where the messages have another form', async () => {
    const see = 'See docs/instructions/dispute_resolve.md for its fields.';
    const alone = await decide([proofs[0]]);
    expect(alone).toEqual({ code: 1, last: `The evidence is no delivery receipt. ${see}` });
    const thrice = await decide([...proofs, proofs[0]]);
    expect(thrice).toEqual({ code: 1, last: `The evidence is not two proofs. ${see}` });
  });

  it('is refused by the name of an instruction that takes no evidence', async () => {
    const { error, code } = await runCli([
      ...['send', 'slash_burn', '--rpc', scene.ledger.rpcUrl, '--signed-message', write(proofs[0])],
      `stake_mint=${scene.service.mints.stake}`,
    ]);
    expect({ code, error }).toEqual({
      code: 1,
      error: expect.stringContaining('slash_burn takes no --signed-message: dispute_resolve does.'),
    });
  });

  it('decides a dispute on two proofs that contradict each other [disputes.evidence]', async () => {
    expect(await decide(proofs)).toMatchObject({ code: 0 });
    const account = await fetchJob(scene.ledger.connection, job);
    expect(account?.outcome).toBe('upheld_worker');
  });
});

describe('a file with a signed message', () => {
  it('is read as it was written', () => {
    expect(readSignedMessage(write(proofs[0]))).toEqual({
      publicKey: proofs[0].publicKey,
      message: new Uint8Array(proofs[0].message),
      signature: new Uint8Array(proofs[0].signature),
    });
  });

  it.each<[string, () => string, RegExp]>([
    ['does not exist', () => join(folder, 'none'), /none: the file cannot be read: ENOENT/],
    ['is no JSON', () => writeFile('{'), /the file cannot be read: .*JSON/],
    ['has no fields', () => writeFile('{}'), /public_key: .*expected string/],
    [
      'has an odd message',
      () => writeFile(JSON.stringify({ ...fieldsOf(proofs[0]), message: 'abc' })),
      /message: takes hexadecimal digits in pairs/,
    ],
    [
      'has a key of another form',
      () => writeFile(JSON.stringify({ ...fieldsOf(proofs[0]), public_key: '0' })),
      /public_key cannot be read/,
    ],
    [
      'has a signature of another key',
      () => write({ ...proofs[0], publicKey: Keypair.generate().publicKey }),
      /the signature is not \w+'s over this message/,
    ],
    [
      'is signed over the message itself',
      () => write({ ...proofs[0], signature: sign(proofs[0].message, scene.service.proofKey) }),
      /the signature is not \w+'s over this message/,
    ],
  ])('is refused by name where it %s', (_, path, error) => {
    expect(() => readSignedMessage(path())).toThrow(error);
  });
});
