import { describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { checkSigner, type LedgerContext } from '../../api/ledger/context.ts';
import { createLogger } from '../../common/logger.ts';
import { ACCOUNT_VERSION } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { createRandom } from '../../testing/random.ts';
import { randomStruct } from '../client/randomValue.ts';

const addresses = createAddresses();
const signer = Keypair.generate();

/** What the log says of a Gateway with these signers; without them there is none. */
async function saidOf(signers?: PublicKey[]): Promise<{ level: number; msg: string }[]> {
  const said: { level: number; msg: string }[] = [];
  const context = {
    ...{ addresses, signer, gateway: Keypair.generate().publicKey, commitment: 'confirmed' },
    connection: { getAccountInfo: async () => signers && accountOf(signers) },
    logger: createLogger({
      ...{ name: 'test', level: 'info' },
      into: { write: (line) => void said.push(JSON.parse(line)) },
    }),
  } as unknown as LedgerContext;
  await checkSigner(context);
  return said;
}

async function accountOf(signers: PublicKey[]) {
  const { forCoder } = randomStruct('Gateway', createRandom());
  const { signers: places } = forCoder as { signers: PublicKey[] };
  const filled = places.map((place, index) => signers[index] ?? place);
  const data = await coder.accounts.encode('Gateway', {
    ...forCoder,
    ...{ version: ACCOUNT_VERSION, signers_len: signers.length, signers: filled },
  });
  return { owner: addresses.programId, data };
}

describe('an API at its start', () => {
  it('logs nothing when its Gateway lists its signer', async () => {
    const others = Array.from({ length: 3 }, () => Keypair.generate().publicKey);
    expect(await saidOf([...others, signer.publicKey])).toEqual([]);
  });

  it('logs an error when its Gateway lacks its signer, so that all locks would be refused', async () => {
    expect(await saidOf([Keypair.generate().publicKey])).toMatchObject([
      { level: 50, msg: 'Found that SVC_SIGNER_KEY is no signer of the Gateway' },
    ]);
  });

  it('logs an error when its Gateway does not exist', async () => {
    expect(await saidOf()).toMatchObject([{ level: 50, msg: 'Found no Gateway at SVC_GATEWAY' }]);
  });
});
