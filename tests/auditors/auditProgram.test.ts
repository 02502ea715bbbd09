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
import { conclude, type Verdict } from '../../programs/client/verify/check.ts';
import { auditProgram } from '../../programs/client/verify/program/auditProgram.ts';
import { gatherProgram } from '../../programs/client/verify/program/gatherProgram.ts';
import { mintTo } from '../../stack/operator.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { stopClock, writeAccount } from '../../testing/ledger/ledger.ts';

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

async function audit(connection = scene.ledger.connection, code: Uint8Array = ARTIFACT) {
  const wait = (ms: number) => scene.wait(ms / 1_000);
  const checks = auditProgram(await gatherProgram({ connection, addresses, wait }), { code });
  const named = (verdict: Verdict) =>
    checks.filter((check) => check.verdict === verdict).map(({ name }) => name);
  const detail = (name: string) => checks.find((check) => check.name === name)?.detail;
  return {
    result: conclude(checks),
    fails: named('fails'),
    unchecked: named('not_checkable'),
    detail,
  };
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
const ofCredit = (change: object) => fields('CreditAccount', () => ({ ...change }));
const ofConfig = (terms: object) => fields('Config', () => ({ ...terms }));

/** A lie about one account, and the checks that it upsets. */
type Case = [string, keyof typeof ACCOUNTS, (account: Account) => Account, string];
const CASES: Case[] = [
  ['a vault that is short by one base unit', 'vault', holding(-1n), 'vaults.credits'],
  ['a stake vault that is short by one base unit', 'stakeVault', holding(-1n), 'vaults.stakes'],
  ['a vault of somebody else', 'vault', tokens({ owner: STRANGER }), 'vaults.custody'],
  ['a vault of another mint', 'treasuryVault', tokens({ mint: STRANGER }), 'vaults.custody'],
  ['a frozen vault', 'vault', tokens({ state: FROZEN }), 'vaults.custody'],
  [
    ...(['a vault with a delegate', 'vault'] as const),
    tokens({ delegate: STRANGER, delegatedAmount: 1n }),
    'vaults.custody',
  ],
  [
    ...(['a vault that somebody else can close', 'stakeVault'] as const),
    tokens({ closeAuthority: STRANGER }),
    'vaults.custody',
  ],
  [
    ...(['a vault of another token program', 'vault'] as const),
    (account) => ({ ...account, owner: UPGRADEABLE_LOADER }),
    'vaults.custody vaults.credits',
  ],
  [
    ...(['credits out of nothing', 'credit'] as const),
    plus('CreditAccount', 'available_credits', 1),
    'vaults.credits',
  ],
  [
    ...(['a lock without a job', 'credit'] as const),
    fields('CreditAccount', (account) => ({
      available_credits: new BN(account.available_credits as never).subn(1),
      locked_credits: new BN(account.locked_credits as never).addn(1),
    })),
    'credits.locked',
  ],
  ['a dispute without a job', 'credit', ofCredit({ open_disputes: 2 }), 'credits.disputes'],
  [
    // Of three jobs one holds 8 credits, one was charged 3, and of one 3 were repaid.
    ...(["a day's sum below what its jobs hold and were charged", 'credit'] as const),
    plus('CreditAccount', 'spent_today_credits', -4),
    'credits.day',
  ],
  [
    ...(['a debt without a creditor', 'treasury'] as const),
    plus('Treasury', 'owed_base_units', 1),
    'treasury.obligations',
  ],
  [
    ...(['an exposure without a dispute', 'treasury'] as const),
    plus('Treasury', 'disputed_exposure_base_units', 1),
    'treasury.obligations',
  ],
  ['a stake out of nothing', 'worker', plus('Worker', 'stake_tokens', 1), 'vaults.stakes'],
  [
    ...(['a lock at another price', 'open'] as const),
    plus('Job', 'locked_credits', 1),
    'credits.locked jobs.prices',
  ],
  [
    ...(['a charge at another price', 'disputed'] as const),
    plus('Job', 'charged_credits', 1),
    'treasury.obligations jobs.prices',
  ],
  ['an overdue job without a refund', 'open', plus('Job', 'locked_at', -300), 'jobs.deadlines'],
  [
    ...(['an overdue dispute that has not expired', 'disputed'] as const),
    plus('Job', 'locked_at', -86_700),
    'jobs.deadlines',
  ],
  [
    ...(['a job of a credit account that does not exist', 'open'] as const),
    fields('Job', () => ({ credit_account: STRANGER })),
    'accounts.addresses credits.locked',
  ],
  [
    ...(["another wallet's credit account", 'credit'] as const),
    ofCredit({ wallet: STRANGER }),
    'accounts.addresses',
  ],
  [
    ...(['a version that is not known', 'gateway'] as const),
    (account) => ({ ...account, data: account.data.with(8, ACCOUNT_VERSION + 1) }),
    'accounts.readable',
  ],
  [
    ...(['a state that is not known', 'upheld'] as const),
    ({ data, ...account }) => ({
      ...account,
      data: data.with(accountFieldOffset('Job', 'status'), 9),
    }),
    'accounts.readable',
  ],
  [
    ...(['an arbiter who is the authority', 'config'] as const),
    fields('Config', ({ authority }) => ({ arbiter: authority })),
    'config.invariants',
  ],
  ...(
    [
      ['a slash above the minimum stake', { slash_tokens: 1_001 }],
      ['a cooldown that is too short', { unstake_cooldown_seconds: 90_000 }],
      ['a cooldown of more than a year', { unstake_cooldown_seconds: 31_536_001 }],
      ['disputes that no client can open', { open_disputes_max: 0 }],
      ['no minimum stake', { minimum_stake_tokens: new BN(0), slash_tokens: 0 }],
      ['no bound on a job', { job_credits_max: new BN('10000000000001') }],
      ['no bound on a wallet', { credit_account_credits_max: new BN(0) }],
    ] as const
  ).map(([what, terms]): Case => [what, 'config', ofConfig(terms), 'config.invariants']),
  [
    ...(['another binary', 'binary'] as const),
    ({ data, ...account }) => ({
      ...account,
      data: data.with(CODE_AT + 1_000, (data[CODE_AT + 1_000] ?? 0) ^ 1),
    }),
    'program.code',
  ],
  [
    ...(['a binary with something behind it', 'binary'] as const),
    ({ data, ...account }) => ({ ...account, data: Buffer.concat([data, Uint8Array.of(0, 1)]) }),
    'program.code',
  ],
];

describe('an audit', () => {
  it('passes when all is well', async () => {
    expect(await audit()).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
  });

  it.each(CASES)('finds %s', async (_what, name, change, upset) => {
    const { fails, unchecked } = await withAccount(ACCOUNTS[name](), change, () => audit());
    expect({ fails, unchecked }).toEqual({ fails: upset.split(' '), unchecked: [] });
  });

  /** Whether the rule about the configuration objects to one with these fields. */
  async function objectsTo(terms: Record<string, unknown>): Promise<boolean> {
    const { fails } = await withAccount(addresses.config, ofConfig(terms), () => audit());
    return fails.includes('config.invariants');
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
    const { fails } = await audit();
    await write(address, { ...account, data: new Uint8Array(16) });
    expect(fails).toEqual(['accounts.readable']);
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
    const pad = (account: Account) => ({
      ...account,
      data: Buffer.concat([account.data, new Uint8Array(100)]),
    });
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

  it('compares with the given artifact', async () => {
    const { fails } = await audit(scene.ledger.connection, ARTIFACT.subarray(1));
    expect(fails).toEqual(['program.code']);
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
      vault.data[0] = Buffer.from(holding(reading)(asAccount(data)).data).toString('base64');
      return answer;
    });
    expect(await audit(busy)).toMatchObject({
      result: 'not_checkable',
      fails: [],
      unchecked: ['vaults.credits', 'vaults.stakes'],
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
    expect(await audit(flipped)).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
    expect(flips).toBe(2);
  });
});

/** Somebody who buys 100 credits for the wallet, and a wallet that takes their tokens out again. */
async function openPurse() {
  const { operator, mints, wallet: owner } = scene.service;
  const buyer = operator.authority.publicKey;
  const wallet = owner.publicKey;
  const baseUnits = 1_000_000n;
  const { account, instructions } = mintTo(operator, {
    mint: mints.credit,
    owner: buyer,
    baseUnits,
  });
  await scene.send(instructions, []);
  const amount = { wallet, credits: 100n };
  return {
    buy: () => scene.send([creditBuy({ buyer, buyerTokenAccount: account, ...amount })], []),
    withdraw: () => scene.send([creditWithdraw({ destination: account, ...amount })], [owner]),
  };
}

function asAccount(data: Uint8Array): Account {
  return { lamports: 0, executable: false, owner: TOKEN_PROGRAM, data };
}
