import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { findTarget } from '../../cli/wallet/target.ts';
import { BASE_UNITS_PER_CREDIT, NO_LIMIT } from '../../programs/client/generated/constants.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

let service: RunningService;
let gateway: string;
let mint: PublicKey;

beforeAll(async () => {
  service = await startRunningService({
    apiSettings: async ({ SOLANA_RPC_URL }) => ({ SVC_CONSOLE_RPC_URL: SOLANA_RPC_URL }),
  });
  gateway = (await service.get('/console/api/config')).gateway;
  mint = service.mints.credit;
});
afterAll(() => service?.close());

/** A wallet with stablecoin for so many credits. */
async function createWallet(credits: bigint, lamports = LAMPORTS_PER_SOL): Promise<Keypair> {
  const wallet = Keypair.generate();
  const owner = wallet.publicKey;
  if (lamports > 0) await service.ledger.fundLamports(owner, lamports);
  const baseUnits = credits * BASE_UNITS_PER_CREDIT;
  if (credits === 0n) return wallet;
  const { instructions } = mintTo(service.operator, { mint, owner, baseUnits });
  await submit(service.operator, instructions);
  return wallet;
}

/** @returns what the command prints, and what it says on standard error */
async function svc(wallet: Keypair, ...words: string[]) {
  const signer = JSON.stringify([...wallet.secretKey]);
  const { code, output, error } = await runCli([...words, '--signer', signer]);
  return { code, printed: output.trimEnd(), said: error.trimEnd().split('\n') };
}

const credits = (wallet: Keypair, ...words: string[]) =>
  svc(wallet, 'credits', ...words, '--service', service.baseUrl);

/** The last that a command says which is refused. */
async function refusalOf(command: ReturnType<typeof svc>): Promise<string | undefined> {
  const { code, said } = await command;
  expect(code).toBe(1);
  return said.at(-1);
}

const LIMITS = ['--per-job', '40', '--per-day', 'none'];
const COUNTED = 'A day of UTC counts what was charged today and what is locked now.';

async function amountOf(owner: PublicKey, token = mint): Promise<string> {
  const account = associatedTokenAddress(token, owner);
  return (await service.ledger.connection.getTokenAccountBalance(account, 'confirmed')).value
    .amount;
}

describe('svc credits buy', () => {
  it('opens the account and sets the gateway’s limits, as it has announced', async () => {
    const wallet = await createWallet(500n);
    const { said, printed } = await credits(wallet, 'buy', '320', ...LIMITS, '--yes');
    expect(said).toEqual([
      `You pay 3.20 of the stablecoin ${mint} for 320 credits.`,
      'Your credit account is opened; your wallet pays its rent in SOL.',
      `${gateway} becomes the spender of your credits.`,
      `${gateway} may lock 40 credits a job and any number of credits a day.`,
      'You then have 320 credits available.',
      'Your wallet then holds 1.80 of the stablecoin.',
    ]);
    const { value } = await service.ledger.connection.getSignatureStatus(printed);
    expect(value?.confirmationStatus).not.toBe('processed');
    const account = await service.account(wallet.publicKey);
    expect(account).toMatchObject({
      ...{ availableCredits: 320n, limitPerJobCredits: 40n, limitPerDayCredits: NO_LIMIT },
    });
    expect(account.spender.toBase58()).toBe(gateway);

    // Of an open account it leaves the spender as it is.
    expect((await credits(wallet, 'buy', '1', '--yes')).said).toEqual([
      `You pay 0.01 of the stablecoin ${mint} for 1 credit.`,
      'You then have 321 credits available.',
      'Your wallet then holds 1.79 of the stablecoin.',
    ]);
    expect(await service.account(wallet.publicKey)).toMatchObject({ limitPerJobCredits: 40n });
  });

  it.each([
    ['500', '400'],
    ['40', '40'],
  ])('proposes the purchase of %s as the limit per day', async (bought, perJob) => {
    const { said } = await credits(await createWallet(500n), 'buy', bought, '--yes');
    const limits = `${gateway} may lock ${perJob} credits a job and ${bought} credits a day.`;
    expect(said[said.indexOf(limits) + 1]).toBe(COUNTED);
  });

  it('says that no service may spend the credits where no gateway is named', async () => {
    const wallet = await createWallet(5n);
    const rpc = ['--rpc', service.ledger.rpcUrl, '--yes'];
    const { said } = await svc(wallet, 'credits', 'buy', '5', ...rpc);
    expect(said).toContain('No service may spend them yet: name one by changing the limits.');
    expect((await service.account(wallet.publicKey)).spender).toEqual(PublicKey.default);
  });

  const costs = () => `6 credits cost 0.06 of the stablecoin ${mint}, and the wallet`;
  it.each<[string, () => Promise<Keypair>, string[], (address: PublicKey) => string]>([
    [
      'without a yes',
      () => createWallet(6n),
      [],
      () => 'Nothing was sent. Without a terminal, --yes says that it is meant.',
    ],
    [
      'for too little stablecoin',
      () => createWallet(5n),
      ['--yes'],
      (address) => `${costs()} ${address} holds 0.05.`,
    ],
    [
      'without an account of the stablecoin',
      () => createWallet(0n),
      ['--yes'],
      (address) => `${costs()} ${address} holds none: it has no account of that token.`,
    ],
    [
      'without SOL',
      () => createWallet(6n, 0),
      ['--yes'],
      (address) => `The first signer, ${address}, pays the fee and has no SOL. Nothing was sent.`,
    ],
  ])('takes nothing %s, and says why', async (_what, create, more, sentence) => {
    const wallet = await create();
    const amount = () => amountOf(wallet.publicKey).catch(() => 'none');
    const before = await amount();
    expect(await refusalOf(credits(wallet, 'buy', '6', ...LIMITS, ...more))).toBe(
      sentence(wallet.publicKey),
    );
    expect(await amount()).toBe(before);
  });
});

describe('svc credits withdraw', () => {
  it('turns credits back into stablecoin, at most those available', async () => {
    const wallet = await createWallet(500n);
    await credits(wallet, 'buy', '500', ...LIMITS, '--yes');
    const { said } = await credits(wallet, 'withdraw', '200', '--yes');
    expect(said).toEqual([
      `2.00 of the stablecoin ${mint} go to your wallet.`,
      'You then have 300 credits available.',
      'Your wallet then holds 2.00 of the stablecoin.',
    ]);
    expect(await refusalOf(credits(wallet, 'withdraw', '301', '--yes'))).toBe(
      'The wallet has 300 credits available.',
    );
    await credits(wallet, 'withdraw', 'all', '--yes');
    expect(await amountOf(wallet.publicKey)).toBe('5000000');
    await service.expectConserved();
  });
});

describe('svc credits limits', () => {
  it('shows balance and limits, changes them, and takes the spender away', async () => {
    const wallet = await createWallet(50n);
    const { printed: before } = await credits(wallet, 'limits');
    expect(before).toMatch(/has no credit account.*\n/);
    expect(before).toContain(`The wallet holds 0.50 of the stablecoin ${mint}.`);
    await credits(wallet, 'buy', '50', ...LIMITS, '--yes');
    const { said } = await credits(wallet, 'limits', '--per-job', '8', '--per-day', '16', '--yes');
    expect(said).toEqual([`${gateway} may lock 8 credits a job and 16 credits a day.`, COUNTED]);
    expect((await credits(wallet, 'limits')).printed).toBe(
      '50 credits available, 0 credits locked now.\n' +
        `${gateway} may lock 8 credits a job and 16 credits a day. ${COUNTED}\n` +
        `The wallet holds 0.00 of the stablecoin ${mint}.`,
    );
    expect(await refusalOf(credits(wallet, 'limits', '--per-job', '9'))).toMatch(
      /^Say both --per-job and --per-day/,
    );
    await credits(wallet, 'limits', '--stop', '--yes');
    expect((await credits(wallet, 'limits')).printed).toContain('No spender is named.');
    expect(await refusalOf(credits(wallet, 'limits', '--stop', '--yes'))).toMatch(/^No spender/);
  });
});

describe('svc alerts threshold', () => {
  const threshold = (wallet: Keypair, ...words: string[]) =>
    svc(wallet, 'alerts', 'threshold', ...words, '--service', service.baseUrl);

  it('signs in with the wallet, sets the threshold, and leaves no session', async () => {
    const { wallet } = service;
    expect((await threshold(wallet)).printed).toBe(
      'credit.low is sent when fewer than 100 credits remain.',
    );
    expect((await threshold(wallet, '250')).printed).toContain('fewer than 250 credits');
    expect((await threshold(wallet)).printed).toContain('fewer than 250 credits');
    const { rows } = await service.pool.query('select 1 from service.sessions where wallet = $1', [
      wallet.publicKey.toBase58(),
    ]);
    expect(rows).toEqual([]);
  });

  it('signs nothing but a sign-in to the very service that was named', async () => {
    const { port } = new URL(service.baseUrl);
    const alias = ['--service', `http://localhost:${port}`];
    expect(await refusalOf(svc(service.wallet, 'alerts', 'threshold', '5', ...alias))).toContain(
      'another text signed than a sign-in to it',
    );
  });
});

describe('svc token-account', () => {
  const rpc = () => ['--rpc', service.ledger.rpcUrl];

  it('makes the account for credits once, and prints the same address again', async () => {
    const wallet = await createWallet(0n);
    const owner = wallet.publicKey;
    const address = associatedTokenAddress(mint, owner).toBase58();
    expect((await svc(wallet, 'token-account', ...rpc())).printed).toBe(address);
    expect(await amountOf(owner)).toBe('0');
    const left = await service.ledger.connection.getBalance(owner, 'confirmed');
    expect((await svc(wallet, 'token-account', ...rpc())).printed).toBe(address);
    expect(await service.ledger.connection.getBalance(owner, 'confirmed')).toBe(left);
  });

  it("makes somebody else's account for stakes", async () => {
    const owner = Keypair.generate().publicKey;
    const stakes = ['--stake', '--owner', owner.toBase58()];
    const { printed } = await svc(await createWallet(0n), 'token-account', ...rpc(), ...stakes);
    expect(printed).toBe(associatedTokenAddress(service.mints.stake, owner).toBase58());
    expect(await amountOf(owner, service.mints.stake)).toBe('0');
  });
});

it('an option wins over what the service says of its ledger', async () => {
  const [rpc, program] = [new URL('http://127.0.0.1:9/'), Keypair.generate().publicKey];
  const target = await findTarget({ service: new URL(service.baseUrl), rpc, program });
  const expected = { rpc, program, gateway, allowsLoopback: true };
  expect({ ...target, gateway: `${target.gateway}` }).toEqual(expected);
});
