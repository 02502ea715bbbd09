import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, PublicKey, VersionedTransaction } from '@solana/web3.js';
import { BASE_UNITS_PER_CREDIT, NO_LIMIT } from '../../programs/client/generated/constants.ts';

import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { runCli } from '../../testing/cli.ts';
import { LONG_BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';
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

/** A wallet with SOL, and stablecoin for so many credits. */
async function fundWallet(credits: bigint): Promise<Keypair> {
  const wallet = Keypair.generate();
  await service.ledger.fundLamports(wallet.publicKey, LAMPORTS_PER_SOL);
  const baseUnits = credits * BASE_UNITS_PER_CREDIT;
  const { instructions } = mintTo(service.operator, { mint, owner: wallet.publicKey, baseUnits });
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

async function stablecoinOf({ publicKey }: Keypair): Promise<string> {
  const account = associatedTokenAddress(mint, publicKey);
  return (await service.ledger.connection.getTokenAccountBalance(account, 'confirmed')).value
    .amount;
}

describe('svc credits buy', () => {
  it('opens the account and sets the gateway’s limits, as it has announced', async () => {
    const wallet = await fundWallet(500n);
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
  });

  it.each([
    ['500', '400', '500'],
    ['40', '40', '40'],
  ])('proposes the purchase of %s as the limit per day', async (bought, perJob, perDay) => {
    const wallet = await fundWallet(500n);
    const { said } = await credits(wallet, 'buy', bought, '--yes');
    const at = said.indexOf(
      `${gateway} may lock ${perJob} credits a job and ${perDay} credits a day.`,
    );
    expect(said[at + 1]).toBe('A day of UTC counts what was charged today and what is locked now.');
    expect(await service.account(wallet.publicKey)).toMatchObject({
      ...{ limitPerJobCredits: BigInt(perJob), limitPerDayCredits: BigInt(perDay) },
    });
  });

  it('leaves the spender of an open account as it is', async () => {
    const wallet = await fundWallet(500n);
    await credits(wallet, 'buy', '100', ...LIMITS, '--yes');
    const { said } = await credits(wallet, 'buy', '1', '--yes');
    expect(said).toEqual([
      `You pay 0.01 of the stablecoin ${mint} for 1 credit.`,
      'You then have 101 credits available.',
      'Your wallet then holds 3.99 of the stablecoin.',
    ]);
    expect(await service.account(wallet.publicKey)).toMatchObject({ limitPerJobCredits: 40n });
  });

  it('says that no service may spend the credits where no gateway is named', async () => {
    const wallet = await fundWallet(5n);
    const rpc = ['--rpc', service.ledger.rpcUrl, '--yes'];
    const { said } = await svc(wallet, 'credits', 'buy', '5', ...rpc);
    expect(said).toContain('No service may spend them yet: name one by changing the limits.');
    expect((await service.account(wallet.publicKey)).spender).toEqual(PublicKey.default);
  });

  it('changes nothing without a yes', async () => {
    const wallet = await fundWallet(5n);
    expect(await refusalOf(credits(wallet, 'buy', '5'))).toBe(
      'Nothing was sent. Without a terminal, --yes says that it is meant.',
    );
    expect(await stablecoinOf(wallet)).toBe('50000');
  });

  it('names the mint and the wallet where the stablecoin is too little', async () => {
    const [poor, stranger] = [await fundWallet(5n), Keypair.generate()];
    const refused = (wallet: Keypair) => refusalOf(credits(wallet, 'buy', '6', ...LIMITS, '--yes'));
    const costs = `6 credits cost 0.06 of the stablecoin ${mint}, and the wallet`;
    expect(await refused(poor)).toBe(`${costs} ${poor.publicKey} holds 0.05.`);
    expect(await refused(stranger)).toBe(
      `${costs} ${stranger.publicKey} holds none: it has no account of that token.`,
    );
    expect(await stablecoinOf(poor)).toBe('50000');
  });

  it('names a wallet that cannot pay the fee', async () => {
    const [rich, poor] = [await fundWallet(5n), Keypair.generate()];
    const baseUnits = 5n * BASE_UNITS_PER_CREDIT;
    const owner = poor.publicKey;
    await submit(
      service.operator,
      mintTo(service.operator, { mint, owner, baseUnits }).instructions,
    );
    expect(await refusalOf(credits(poor, 'buy', '5', ...LIMITS, '--yes'))).toBe(
      `The first signer, ${owner}, pays the fee and has no SOL. Nothing was sent.`,
    );
    expect(await stablecoinOf(rich)).toBe('50000');
  });

  it('says that a transaction expired which the ledger never saw', async () => {
    const wallet = await fundWallet(5n);
    const node = await startForgetfulNode(service.ledger.rpcUrl);
    const words = ['buy', '5', ...LIMITS, '--yes', '--rpc', node.url];
    const ending = refusalOf(credits(wallet, ...words));
    await node.sent;
    await service.advanceSeconds(LONG_BLOCKHASH_MS / 1_000);
    expect(await ending).toBe('It expired: the ledger dropped it. Nothing was changed.');
    node.close();
    expect(await stablecoinOf(wallet)).toBe('50000');
  });
});

/** A node that takes transactions and passes none on. */
async function startForgetfulNode(rpcUrl: string) {
  const { promise: sent, resolve } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    response.setHeader('content-type', 'application/json');
    const { id, method, params } = JSON.parse(body);
    if (method !== 'sendTransaction') {
      const headers = { 'content-type': 'application/json' };
      response.end(await (await fetch(rpcUrl, { method: 'POST', headers, body })).text());
      return;
    }
    const { signatures } = VersionedTransaction.deserialize(Buffer.from(params[0], 'base64'));
    const result = base58.encode(signatures[0] ?? new Uint8Array());
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when it has taken one. */
    sent,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe('svc credits withdraw', () => {
  it('turns credits back into stablecoin, at most those available', async () => {
    const wallet = await fundWallet(500n);
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
    expect(await stablecoinOf(wallet)).toBe('5000000');
    await service.expectConserved();
  });
});

describe('svc credits limits', () => {
  it('shows balance and limits, changes them, and takes the spender away', async () => {
    const wallet = await fundWallet(50n);
    const { printed: before } = await credits(wallet, 'limits');
    expect(before).toMatch(/has no credit account.*\n/);
    expect(before).toContain(`The wallet holds 0.50 of the stablecoin ${mint}.`);
    await credits(wallet, 'buy', '50', ...LIMITS, '--yes');
    const { said } = await credits(wallet, 'limits', '--per-job', '8', '--per-day', '16', '--yes');
    const counted = 'A day of UTC counts what was charged today and what is locked now.';
    expect(said).toEqual([`${gateway} may lock 8 credits a job and 16 credits a day.`, counted]);
    expect((await credits(wallet, 'limits')).printed).toBe(
      '50 credits available, 0 credits locked now.\n' +
        `${gateway} may lock 8 credits a job and 16 credits a day. ${counted}\n` +
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
