import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createKey } from '../../../api/account/keys.ts';
import {
  type RunningService,
  startRunningService,
} from '../../../testing/service/runningService.ts';
import { type CallConsole, consoleAt, signIn } from './consoleScene.ts';

const operator = Keypair.generate();
let service: RunningService;
let call: CallConsole;
let cookie: string;
let customer: string;
let arbiter: string;

beforeAll(async () => {
  service = await startRunningService({
    apiSettings: { SVC_CONSOLE_OPERATORS: operator.publicKey.toBase58() },
  });
  call = consoleAt(service.baseUrl, new URL(service.baseUrl).origin, { isReal: true });
  cookie = await signIn(call, operator);
  customer = await signIn(call, service.wallet);
  arbiter = await signIn(call, service.arbiter);
});

afterAll(() => service?.close());

describe('an operator', () => {
  it('suspends a key with a reason, and reinstates it', async () => {
    const wallet = service.wallet.publicKey.toBase58();
    const state = async () => (await call('GET /key', { cookie: customer })).body.key;

    await call(`POST /operator/keys/${wallet}/suspend`, { cookie, body: { reason: '<i>spam' } });
    expect(await state()).toMatchObject({ status: 'suspended', suspension_reason: '<i>spam' });
    const { body } = await call('GET /operator/keys?status=suspended', { cookie });
    expect(body.data).toMatchObject([{ wallet, suspended_by: 'operator' }]);

    await call(`POST /operator/keys/${wallet}/reinstate`, { cookie });
    expect(await state()).toMatchObject({ status: 'active', suspension_reason: null });
    const again = await call(`POST /operator/keys/${wallet}/reinstate`, { cookie });
    expect(again.body.error.code).toBe('key_not_found');
  });

  it('suspends no wallet that is none', async () => {
    const { status, body } = await call('POST /operator/keys/-/suspend', {
      ...{ cookie, body: { reason: 'spam' } },
    });
    expect([status, body.error.param]).toEqual([400, 'wallet']);
  });

  it('sees all keys in pages, or those of one wallet', async () => {
    const wallets = [1, 2, 3].map(() => Keypair.generate().publicKey.toBase58());
    for (const wallet of wallets) await createKey(service.pool, wallet);
    const first = (await call('GET /operator/keys?limit=2', { cookie })).body;
    const rest = (await call(`GET /operator/keys?limit=2&before=${first.next_cursor}`, { cookie }))
      .body;

    expect(
      [...first.data, ...rest.data].map(({ wallet }: { wallet: string }) => wallet).slice(0, 3),
    ).toEqual(wallets.toReversed());
    const { body } = await call(`GET /operator/keys?wallet=${wallets[1]}`, { cookie });
    expect(body.data).toHaveLength(1);
  });
});

describe('the roles of a session', () => {
  it('follow the ledger and the settings', async () => {
    const roles = async (of: string) =>
      (await call('GET /session', { cookie: of })).body.session.roles;

    expect(await roles(cookie)).toMatchObject({ operator: true, arbiter: false, authority: false });
    expect(await roles(arbiter)).toMatchObject({ operator: false, arbiter: true });
    expect(Object.values(await roles(customer))).toEqual([false, false, false, false]);
    const authority = await signIn(call, service.operator.authority);
    expect(await roles(authority)).toMatchObject({ authority: true });
  });
});

describe('what is on the ledger', () => {
  it('is shown as it is, with the gateway and every model', async () => {
    const { body } = await call('GET /operator/ledger', { cookie });

    expect(body).toMatchObject({
      authority: service.operator.authority.publicKey.toBase58(),
      arbiter: service.arbiter.publicKey.toBase58(),
      locks_paused: false,
      gateway: { is_stopped: false, signers: [service.hotSigner.publicKey.toBase58()] },
    });
    expect(body.models.map(({ id }: { id: string }) => id)).toContain(service.model.id);
  });
});
