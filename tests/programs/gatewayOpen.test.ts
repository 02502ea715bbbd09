import { beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { ACCOUNT_VERSION, gatewayOpen } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const keys = (count: number): PublicKey[] =>
  Array.from({ length: count }, () => Keypair.generate().publicKey);
const open = (operator: Keypair, signers: PublicKey[], payer = operator) =>
  gatewayOpen({ payer: payer.publicKey, operator: operator.publicKey, signers });

describe('gateway_open', () => {
  it.each([1, 8])('opens a gateway with %i signers, once for an operator', async (count) => {
    const { stranger } = world;
    const operator = stranger.publicKey;
    const gateway = addresses.gateway(operator);
    const signers = keys(count);
    const opened = { gateway, gatewaySequence: 1n, operator, signers, stopped: false };
    await expectEvent(world, [open(stranger, signers)], [stranger], 'GatewayOpened', opened);
    const none = Array.from({ length: 8 - count }, () => PublicKey.default);
    expect(await world.read('Gateway', gateway)).toMatchObject({
      version: ACCOUNT_VERSION,
      sequence: 1n,
      operator,
      stopped: false,
      signersLen: count,
      signers: [...signers, ...none],
      reserved: new Uint8Array(63),
    });
    await expectRefusal(world, 'AlreadyInitialized', open(stranger, keys(1)), [stranger]);
  });

  it('can be paid for by any key, but requires the operator’s signature', async () => {
    const { stranger, wallet } = world;
    await world.chain.send([open(stranger, keys(1), wallet)], [stranger, wallet]);
    const unsigned = open(await world.person(), keys(1), wallet);
    for (const key of unsigned.keys.slice(1, 2)) key.isSigner = false;
    await expectRefusal(world, 'MissingSigner', unsigned, [wallet]);
  });

  it('refuses no signer, nine signers, the zero key and duplicates', async () => {
    const { stranger } = world;
    const refused = (name: 'ValueOutOfRange' | 'DuplicateAccount', signers: PublicKey[]) =>
      expectRefusal(world, name, open(stranger, signers), [stranger]);
    await refused('ValueOutOfRange', []);
    await refused('ValueOutOfRange', keys(9));
    await refused('ValueOutOfRange', [PublicKey.default]);
    const [one] = keys(1) as [PublicKey];
    await refused('DuplicateAccount', [one, ...keys(2), one]);
  });

  it('works when its address already holds lamports', async () => {
    const { chain, stranger } = world;
    const address = addresses.gateway(stranger.publicKey);
    const owner = SystemProgram.programId;
    chain.setAccount(address, {
      ...{ lamports: 1, data: new Uint8Array(), owner, executable: false },
    });
    await chain.send([open(stranger, keys(1))], [stranger]);
    expect((await world.read('Gateway', address)).sequence).toBe(1n);
  });

  it('refuses another operator’s address', async () => {
    const { stranger } = world;
    const other = addresses.gateway((await world.person()).publicKey);
    const elsewhere = withAccount(open(stranger, keys(1)), 'gateway', other);
    await expectRefusal(world, 'WrongAddress', elsewhere, [stranger]);
  });
});
