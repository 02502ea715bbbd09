import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { runCli } from '../../testing/cli.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

let service: RunningService;
let wallet: Keypair;
let address: string;

beforeAll(async () => {
  service = await startRunningService();
  wallet = Keypair.generate();
  address = wallet.publicKey.toBase58();
});
afterAll(() => service?.close());

/** As the operator, by the database. */
const keys = (verb: string, ...more: string[]) =>
  runCli(['keys', verb, ...(verb === 'list' ? [] : ['--wallet', address]), ...more], {
    env: { DATABASE_URL: service.apiEnvironment.DATABASE_URL as string },
  });

/** As the wallet's owner, by a sign-in. */
const key = (verb: string) =>
  runCli([
    ...['key', verb, ...(verb === 'create' ? [] : ['--yes']), '--service', service.baseUrl],
    ...['--signer', JSON.stringify([...wallet.secretKey])],
  ]);

const done = (error: string) => ({ code: 0, output: '', error });
const refused = (error: string) => ({ code: 1, output: '', error });
const SUSPENDED =
  /^The wallet \w+ is suspended: spam\. The operator of this service can reinstate it\.\n$/;

describe('a suspension by svc keys', () => {
  it('holds for the wallet, with a key and without one, until it is reinstated', async () => {
    await keys('create');
    expect(await keys('suspend', '--reason', 'spam')).toEqual(
      done(`The wallet ${address} is suspended.\n`),
    );
    expect((await keys('list')).output).toMatch(
      new RegExp(`${address} +. suspended . \\S+Z +. operator +. spam`),
    );
    expect(await keys('suspend')).toEqual(refused(`The wallet ${address} is suspended already.\n`));
    const refusesBoth = async () => {
      for (const verb of ['create', 'regenerate']) {
        for (const answer of [await key(verb), await keys(verb)]) {
          expect(answer).toEqual(refused(expect.stringMatching(SUSPENDED) as never));
        }
      }
    };
    await refusesBoth();

    expect(await key('revoke')).toEqual(done(`The key of ${address} is revoked.\n`));

    await refusesBoth();
    expect((await keys('list')).output).toMatch(
      new RegExp(`${address} +. suspended . no key +. operator +. spam`),
    );
    expect(await keys('reinstate')).toEqual(done(`The wallet ${address} is reinstated.\n`));
    expect(await keys('reinstate')).toEqual(refused(`The wallet ${address} is not suspended.\n`));
    expect((await key('create')).output).toMatch(/^svc_live_\w{32}\n$/);
  });
});
