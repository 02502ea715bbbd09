import { readFileSync } from 'node:fs';
import anchor from '@coral-xyz/anchor';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountInfo, Keypair, PublicKey } from '@solana/web3.js';
import { ACCOUNT_VERSION } from '../../programs/client/accounts.ts';
import { TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
import { accountFieldOffset } from '../../programs/client/codec.ts';
import {
  BASIS_POINTS,
  CREDITS_MAX,
  JOB_DECIDED_SECONDS,
  STAKE_DECIMALS_MAX,
  STAKE_TOKENS_MAX,
  UNSTAKE_COOLDOWN_SECONDS_MAX,
} from '../../programs/client/generated/constants.ts';
import { creditBuy, creditWithdraw, PROGRAM_ID } from '../../programs/client/index.ts';
import {
  decodeTokenAccount,
  encodeTokenAccount,
  FROZEN,
  type TokenAccount,
} from '../../programs/client/token/layout.ts';
import { auditProgram } from '../../programs/client/verify/program/auditProgram.ts';
import { gatherProgram } from '../../programs/client/verify/program/gatherProgram.ts';
import { mintTo } from '../../stack/operator.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { stopClock, writeAccount } from '../../testing/ledger/ledger.ts';
import { asExpected } from '../receipts/vectors/verdict.ts';

const { BN } = anchor;
const ARTIFACT = readFileSync(
  new URL('../../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const [PROGRAM_DATA] = PublicKey.findProgramAddressSync([PROGRAM_ID.toBytes()], UPGRADEABLE_LOADER);
const CODE_AT = 45;

let scene: JobScene;
let open: PublicKey;
let disputed: PublicKey;
let upheld: PublicKey;

beforeAll(async () => {
  scene = await createJobScene();
  const jobs = await scene.lock({ count: 3, tokenLimit: 2_000 });
  [open, disputed, upheld] = jobs.map(({ address }) => address) as [
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  for (const job of [disputed, upheld]) {
    await scene.acknowledge(job);
    await scene.settle(job);
    await scene.dispute(job);
  }
  await scene.resolve(upheld, 'upheld_worker');
  // The open job does not become overdue during the tests.
  await stopClock(scene.ledger.connection);
});

afterAll(() => scene?.ledger.close());

async function audit(connection = scene.ledger.connection) {
  const wait = (ms: number) => scene.wait(ms / 1_000);
  const checks = auditProgram(await gatherProgram({ connection, addresses, wait }), {
    code: ARTIFACT,
  });
  const detail = (name: string) => checks.find((check) => check.name === name)?.detail;
  return { ...asExpected(checks), detail };
}

type Account = AccountInfo<Uint8Array>;

async function write(address: PublicKey, { lamports, owner, data, executable }: Account) {
  const fields = { lamports, owner, data, executable };
  await writeAccount(scene.ledger.connection.rpcEndpoint, address, fields);
}

/** Lets a test see the ledger with one account overwritten, and puts it back. */
async function withAccount<Result>(
  address: PublicKey,
  change: (account: Account) => Account,
  work: () => Promise<Result>,
): Promise<Result> {
  const { connection } = scene.ledger;
  const account = await connection.getAccountInfo(address, 'confirmed');
  if (!account) throw new Error(`there is no account at ${address}`);
  await write(address, change({ ...account, data: Uint8Array.from(account.data) }));
  try {
    return await work();
  } finally {
    await write(address, account);
  }
}

const fields =
  (name: string, change: (fields: Record<string, never>) => Record<string, unknown>) =>
  (account: Account): Account => {
    const decoded = coder.accounts.decode(name, Buffer.from(account.data));
    const body = coder.types.encode(name, { ...decoded, ...change(decoded) });
    return { ...account, data: Buffer.concat([account.data.subarray(0, 8), body]) };
  };

const plus = (name: string, field: string, amount: number) =>
  fields(name, (found) => ({ [field]: new BN(found[field] as never).addn(amount) }));

const tokens =
  (change: Partial<TokenAccount>) =>
  (account: Account): Account => ({
    ...account,
    data: encodeTokenAccount({ ...decodeTokenAccount(account.data), ...change }),
  });

const holding = (difference: bigint) => (account: Account) =>
  tokens({ amount: decodeTokenAccount(account.data).amount + difference })(account);

const STRANGER = Keypair.generate().publicKey;

/** The accounts that are forged. */
const ACCOUNTS = {
  vault: () => addresses.vault,
  stakeVault: () => addresses.stakeVault,
  treasuryVault: () => addresses.treasuryVault,
  treasury: () => addresses.treasury,
  config: () => addresses.config,
  credit: () => scene.service.creditAccount,
  worker: () => scene.service.worker,
  gateway: () => scene.service.gateway,
  open: () => open,
  disputed: () => disputed,
  upheld: () => upheld,
  binary: () => PROGRAM_DATA,
};
type Lie = readonly [change: (account: Account) => Account, upset: string];

const config = (terms: object): Lie => [
  fields('Config', () => ({ ...terms })),
  'config.invariants',
];
const inBytes =
  (change: (data: Uint8Array) => Uint8Array) =>
  (account: Account): Account => ({ ...account, data: change(account.data) });

/** Lies about one account, each with the checks that it upsets. */
const LIES: Partial<Record<keyof typeof ACCOUNTS, Readonly<Record<string, Lie>>>> = {
  vault: {
    'a vault that is short by one base unit': [holding(-1n), 'vaults.credits'],
    'a vault of somebody else': [tokens({ owner: STRANGER }), 'vaults.custody'],
    'a frozen vault': [tokens({ state: FROZEN }), 'vaults.custody'],
    'a vault with a delegate': [
      tokens({ delegate: STRANGER, delegatedAmount: 1n }),
      'vaults.custody',
    ],
    'a vault of another token program': [
      (account) => ({ ...account, owner: UPGRADEABLE_LOADER }),
      'vaults.custody vaults.credits',
    ],
  },
  stakeVault: {
    'a stake vault that is short by one base unit': [holding(-1n), 'vaults.stakes'],
    'a vault that somebody else can close': [
      tokens({ closeAuthority: STRANGER }),
      'vaults.custody',
    ],
  },
  treasuryVault: { 'a vault of another mint': [tokens({ mint: STRANGER }), 'vaults.custody'] },
  credit: {
    'credits out of nothing': [plus('CreditAccount', 'available_credits', 1), 'vaults.credits'],
    'a lock without a job': [
      fields('CreditAccount', (account) => ({
        available_credits: new BN(account.available_credits as never).subn(1),
        locked_credits: new BN(account.locked_credits as never).addn(1),
      })),
      'credits.locked',
    ],
    'a dispute without a job': [
      fields('CreditAccount', () => ({ open_disputes: 2 })),
      'credits.disputes',
    ],
    // Of three jobs one holds 8 credits, one was charged 3, and of one 3 were repaid.
    "a day's sum below what its jobs hold and were charged": [
      plus('CreditAccount', 'spent_today_credits', -4),
      'credits.day',
    ],
    "another wallet's credit account": [
      fields('CreditAccount', () => ({ wallet: STRANGER })),
      'accounts.addresses',
    ],
  },
  treasury: {
    'a debt without a creditor': [plus('Treasury', 'owed_base_units', 1), 'treasury.obligations'],
    'an exposure without a dispute': [
      plus('Treasury', 'disputed_exposure_base_units', 1),
      'treasury.obligations',
    ],
  },
  worker: { 'a stake out of nothing': [plus('Worker', 'stake_tokens', 1), 'vaults.stakes'] },
  open: {
    'a lock at another price': [plus('Job', 'locked_credits', 1), 'credits.locked jobs.prices'],
    'an overdue job without a refund': [plus('Job', 'locked_at', -300), 'jobs.deadlines'],
    'a job of a credit account that does not exist': [
      fields('Job', () => ({ credit_account: STRANGER })),
      'accounts.addresses credits.locked',
    ],
  },
  disputed: {
    'a charge at another price': [
      plus('Job', 'charged_credits', 1),
      'treasury.obligations jobs.prices',
    ],
    'an overdue dispute that has not expired': [
      plus('Job', 'locked_at', -86_700),
      'jobs.deadlines',
    ],
  },
  gateway: {
    'a version that is not known': [
      inBytes((data) => data.with(8, ACCOUNT_VERSION + 1)),
      'accounts.readable',
    ],
  },
  upheld: {
    'a state that is not known': [
      inBytes((data) => data.with(accountFieldOffset('Job', 'status'), 9)),
      'accounts.readable',
    ],
  },
  config: {
    'an arbiter who is the authority': [
      fields('Config', ({ authority }) => ({ arbiter: authority })),
      'config.invariants',
    ],
    'a slash above the minimum stake': config({ slash_tokens: 1_001 }),
    'disputes that no client can open': config({ open_disputes_max: 0 }),
    'no minimum stake': config({ minimum_stake_tokens: new BN(0), slash_tokens: 0 }),
    'no bound on a job': config({ job_credits_max: new BN('10000000000001') }),
    'no bound on a wallet': config({ credit_account_credits_max: new BN(0) }),
  },
  binary: {
    'another binary': [
      inBytes((data) => data.with(CODE_AT + 1_000, (data[CODE_AT + 1_000] ?? 0) ^ 1)),
      'program.code',
    ],
    'a binary with something behind it': [
      inBytes((data) => Buffer.concat([data, Uint8Array.of(0, 1)])),
      'program.code',
    ],
  },
};

const CASES = Object.entries(LIES).flatMap(([name, lies]) =>
  Object.entries(lies).map(
    ([what, [change, upset]]) => [what, name as keyof typeof ACCOUNTS, change, upset] as const,
  ),
);

describe('an audit', () => {
  it('passes when all is well', async () => {
    expect(await audit()).toMatchObject({ result: 'holds', failing: [], not_checkable: [] });
  });

  it.each(CASES)('finds %s', async (_what, name, change, upset) => {
    const { failing, not_checkable } = await withAccount(ACCOUNTS[name](), change, () => audit());
    expect({ failing, not_checkable }).toEqual({ failing: upset.split(' '), not_checkable: [] });
  });

  /** Whether the rule about the configuration objects to one with these fields. */
  async function objectsTo(terms: Record<string, unknown>): Promise<boolean> {
    const { failing } = await withAccount(addresses.config, config(terms)[0], () => audit());
    return failing.includes('config.invariants');
  }

  it.each([
    { unstake_cooldown_seconds: JOB_DECIDED_SECONDS },
    { unstake_cooldown_seconds: UNSTAKE_COOLDOWN_SECONDS_MAX },
    { stake_decimals: STAKE_DECIMALS_MAX },
    { treasury_share_basis_points: Number(BASIS_POINTS) },
    { slash_tokens: 1_000 },
    { job_credits_max: new BN(String(CREDITS_MAX)) },
    { minimum_stake_tokens: new BN(String(STAKE_TOKENS_MAX)) },
    { treasury_floor_credits: new BN(String(CREDITS_MAX)) },
  ])('accepts a configuration on its bound: %o', async (terms) => {
    expect(await objectsTo(terms)).toBe(false);
  });

  it.each([
    { unstake_cooldown_seconds: JOB_DECIDED_SECONDS - 1 },
    { unstake_cooldown_seconds: UNSTAKE_COOLDOWN_SECONDS_MAX + 1 },
    { stake_decimals: STAKE_DECIMALS_MAX + 1 },
    { treasury_share_basis_points: Number(BASIS_POINTS) + 1 },
    { treasury_floor_credits: new BN(String(CREDITS_MAX + 1n)) },
    { earlier_floor_credits: new BN(String(CREDITS_MAX + 1n)) },
    { vault: STRANGER },
    { treasury_vault: STRANGER },
    { stake_vault: STRANGER },
    { job_timeout_seconds: 121 },
    { dispute_window_seconds: 59 },
    { arbitration_window_seconds: 86_399 },
    { authority: PublicKey.default },
    { arbiter: PublicKey.default },
  ])('objects to a configuration beyond its bound: %o', async (terms) => {
    expect(await objectsTo(terms)).toBe(true);
  });

  it('finds an account that the program never created', async () => {
    const { publicKey: address } = Keypair.generate();
    const account = { lamports: 10_000_000, executable: false, owner: PROGRAM_ID };
    await write(address, { ...account, data: Uint8Array.from({ length: 16 }, () => 7) });
    const { failing } = await audit();
    await write(address, { ...account, data: new Uint8Array(16) });
    expect(failing).toEqual(['accounts.readable']);
  });

  it('ignores an empty account, which anybody can assign to the program', async () => {
    const address = Keypair.generate().publicKey;
    const data = new Uint8Array(341);
    await write(address, { lamports: 10_000_000, executable: false, owner: PROGRAM_ID, data });
    const { result, detail } = await audit();
    expect(result).toBe('holds');
    expect(detail('accounts.readable')).toMatch(/blank ones, which mean nothing: [1-9]/);
  });

  it('reports tokens that were sent to a vault unasked', async () => {
    const { result, detail } = await withAccount(addresses.vault, holding(7n), () => audit());
    expect(result).toBe('holds');
    expect(detail('vaults.credits')).toContain('as due, and 7 more: sent unasked, or due');
  });

  it('ignores the zeros that the loader appends to the binary', async () => {
    const pad = inBytes((data) => Buffer.concat([data, new Uint8Array(100)]));
    expect(await withAccount(PROGRAM_DATA, pad, () => audit())).toMatchObject({ result: 'holds' });
  });

  it('knows no closed job: a day’s sum may be more than that of the others', async () => {
    for (const change of [
      plus('CreditAccount', 'spent_today_credits', -3),
      plus('CreditAccount', 'spent_today_credits', 5),
      fields('CreditAccount', (account) => ({
        spent_day: Number(account.spent_day) + 1,
        spent_today_credits: new BN(0),
      })),
    ]) {
      const { result } = await withAccount(scene.service.creditAccount, change, () => audit());
      expect(result).toBe('holds');
    }
  });

  it('does not compare vaults with accounts while tokens move', async () => {
    let reading = 0n;
    const busy = interceptedConnection(scene.ledger.rpcUrl, async (request, forward) => {
      const answer = (await forward(request)) as { result: { value: { data: [string] }[] } };
      if (request.method !== 'getMultipleAccounts') return answer;
      const [vault] = answer.result.value;
      if (!vault) throw new Error('the vault is read first');
      const data = Buffer.from(vault.data[0], 'base64');
      reading += 1n;
      const held = { lamports: 0, executable: false, owner: TOKEN_PROGRAM, data };
      vault.data[0] = Buffer.from(holding(reading)(held).data).toString('base64');
      return answer;
    });
    expect(await audit(busy)).toMatchObject({
      result: 'not_checkable',
      failing: [],
      not_checkable: ['vaults.credits', 'vaults.stakes'],
    });
  });

  it('reports no shortage for a purchase that is withdrawn at once', async () => {
    const { buy, withdraw } = await openPurse();
    let flips = 0;
    const flipped = interceptedConnection(scene.ledger.rpcUrl, async (request, forward) => {
      if (request.method !== 'getProgramAccounts' || flips === 2) return forward(request);
      flips += 1;
      await buy();
      const answer = await forward(request);
      await withdraw();
      return answer;
    });
    expect(await audit(flipped)).toMatchObject({ result: 'holds', failing: [], not_checkable: [] });
    expect(flips).toBe(2);
  });
});

/** Somebody who buys 100 credits for the wallet, and a wallet that takes their tokens out again. */
async function openPurse() {
  const { operator, mints, wallet: owner } = scene.service;
  const buyer = operator.authority.publicKey;
  const wallet = owner.publicKey;
  const minted = { mint: mints.credit, owner: buyer, baseUnits: 1_000_000n };
  const { account, instructions } = mintTo(operator, minted);
  await scene.send(instructions, []);
  const amount = { wallet, credits: 100n };
  return {
    buy: () => scene.send([creditBuy({ buyer, buyerTokenAccount: account, ...amount })], []),
    withdraw: () => scene.send([creditWithdraw({ destination: account, ...amount })], [owner]),
  };
}
