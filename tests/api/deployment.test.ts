import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey, SYSVAR_RENT_PUBKEY } from '@solana/web3.js';
import { type LedgerContext, reachLedger } from '../../api/ledger/context.ts';
import { findDeploymentFaults } from '../../api/ledger/deployment.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { encodedAccount } from './encodedAccount.ts';

const addresses = createAddresses();
const { programId } = addresses;
const gateway = Keypair.generate().publicKey;
const signer = Keypair.generate();
const others = [Keypair.generate().publicKey];

const program = { executable: true, owner: Keypair.generate().publicKey, lamports: 1 };
const config = { executable: false, owner: programId, lamports: 1 };
const payer = { executable: false, owner: Keypair.generate().publicKey, lamports: 1_000_000_000 };
/** A job's 379 bytes and the ledger's 128, at this rate, and the fees. */
const neededAt = (lamportsPerByte: number) => 507 * lamportsPerByte + 1_000_000;
const broke = { ...payer, lamports: neededAt(5_080) - 1 };

async function gatewayWith(signers: PublicKey[], stopped = false) {
  const account = await encodedAccount('Gateway', ({ signers: places }) => ({
    ...{ signers_len: signers.length, stopped },
    signers: (places as PublicKey[]).map((place, index) => signers[index] ?? place),
  }));
  return { ...account, executable: false, lamports: 1 };
}

/** What a ledger's Rent holds; before SIMD-0194 the threshold was two years. */
function rentOf(rate: number, threshold: number) {
  const data = Buffer.alloc(17);
  data.writeBigUInt64LE(BigInt(rate), 0);
  data.writeDoubleLE(threshold, 8);
  return { ...payer, data };
}

/** What is found where the ledger has these accounts, in the order in which they are read. */
async function faultsOf(
  accounts: readonly unknown[],
  { rent = rentOf(5_080, 1), more = others }: { rent?: unknown; more?: PublicKey[] } = {},
) {
  const connection = {
    getMultipleAccountsInfoAndContext: async ([first]: PublicKey[]) => ({
      value: first?.equals(SYSVAR_RENT_PUBKEY) ? [rent, ...accounts] : accounts,
    }),
  };
  const faults = await findDeploymentFaults({
    ...{ addresses, gateway, signer, commitment: 'confirmed' },
    feePayers: [signer.publicKey, ...more],
    connection: connection as never,
  });
  return faults.map(({ part, message, isMisconfigured }) => [part, message, isMisconfigured]);
}

const listed = () => gatewayWith([Keypair.generate().publicKey, signer.publicKey]);

describe("an API's deployment", () => {
  it('has no fault when the Gateway lists the signer and one key can pay', async () => {
    expect(await faultsOf([program, config, await listed(), broke, payer])).toEqual([]);
  });

  const noProgram = `SVC_PROGRAM_ID ${programId} is no program on this ledger`;
  const notInitialized = `The program SVC_PROGRAM_ID ${programId} was never initialized`;
  const noGateway = `SVC_GATEWAY ${gateway} is no Gateway of the program ${programId}`;
  const noSigner = `SVC_SIGNER_KEY ${signer.publicKey} is no signer of the Gateway ${gateway}`;
  const stranger = Keypair.generate().publicKey;

  it.each([
    ['the program where nothing is at its address', [null, null], listed, 'program', noProgram],
    ['the program where another account is', [payer, null], listed, 'program', noProgram],
    ['the program while it is not initialized', [program, null], listed, 'program', notInitialized],
    ['the Gateway where there is none', [program, config], () => null, 'gateway', noGateway],
    [
      'the Gateway where another account is',
      [program, config],
      async () => ({ ...(await listed()), owner: stranger }),
      'gateway',
      noGateway,
    ],
    [
      'the signer when the Gateway does not list it',
      [program, config],
      () => gatewayWith([stranger]),
      'signer',
      noSigner,
    ],
  ])('lacks %s', async (_what, accounts, gatewayAccount, part, message) => {
    expect(await faultsOf([...accounts, await gatewayAccount(), payer, null])).toEqual([
      [part, message, true],
    ]);
  });

  it('lacks the Gateway while its operator stops it', async () => {
    const stopped = await gatewayWith([signer.publicKey], true);
    expect(await faultsOf([program, config, stopped, payer, null])).toEqual([
      ['gateway', `The Gateway ${gateway} is stopped by its operator`, false],
    ]);
  });

  it.each([
    ['49,999,999 lamports', [], 49_999_999, '0.05 SOL'],
    ['none, and another key too little', others, 0, 'SVC_FEE_PAYER_KEYS'],
  ] as const)('lacks fee payers while the signer has %s', async (_what, more, lamports, named) => {
    const accounts = [program, config, await listed(), { ...payer, lamports }, broke];
    expect(await faultsOf(accounts.slice(0, 4 + more.length), { more: [...more] })).toEqual([
      ['fee_payers', expect.stringContaining(named), false],
    ]);
  });

  it('has a signer that can pay from 0.05 SOL on, without another key', async () => {
    const signing = { ...payer, lamports: 50_000_000 };
    expect(await faultsOf([program, config, await listed(), signing], { more: [] })).toEqual([]);
  });

  it.each([
    [6_960, 'as a rate a year and two years', rentOf(3_480, 2)],
    [5_080, 'as one rate', rentOf(5_080, 1)],
    [696, 'as one rate', rentOf(696, 1)],
  ])(
    'asks of another key the rent of the ledger: %i lamports a byte, %s',
    async (rate, _, rent) => {
      const gatewayAccount = await listed();
      const faultsWith = (lamports: number) =>
        faultsOf([program, config, gatewayAccount, null, { ...payer, lamports }], { rent });

      expect(await faultsWith(neededAt(rate))).toEqual([]);
      expect(await faultsWith(neededAt(rate) - 1)).toMatchObject([
        ['fee_payers', expect.stringContaining(`less than ${neededAt(rate)} lamports`), false],
      ]);
    },
  );

  it('cannot be judged by a node that knows no Rent', async () => {
    await expect(
      faultsOf([program, config, await listed(), payer], { rent: null }),
    ).rejects.toThrow('Rent');
  });
});

describe('an API that starts while its node is unavailable', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('logs every 5 s what it waits for, then each part that the ledger lacks', async () => {
    const log: string[] = [];
    const note = ({ msg }: { msg: string }) => void log.push(msg);
    const ready = Promise.withResolvers<void>();
    const getMultipleAccountsInfoAndContext = async (keys: unknown[]) => ({
      value: [rentOf(5_080, 1), ...keys.slice(1).map(() => null)],
    });
    const reaching = reachLedger({
      ...{ addresses, gateway, signer, feePayers: [signer.publicKey, ...others] },
      ...{ connection: { getMultipleAccountsInfoAndContext }, commitment: 'confirmed' },
      ...{ clock: { ready: ready.promise }, logger: { warn: note, error: note } },
      time: systemTime,
    } as unknown as LedgerContext);
    await jest.advanceTimersByTimeAsync(11_000);
    expect(log.splice(0)).toEqual(Array(2).fill(expect.stringMatching(/^Waiting for the time/)));
    ready.resolve();
    await jest.advanceTimersByTimeAsync(11_000);
    const faults = (await reaching) ?? [];
    expect(faults.map(({ part }) => part)).toEqual(['program', 'gateway', 'fee_payers']);
    expect(log).toEqual(faults.map(({ message }) => message));
  });
});
