import { beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import * as browser from '../../programs/client/platform/browser.ts';
import * as node from '../../programs/client/platform/node.ts';
import { startChain } from '../../testing/chain.ts';
import { startBankrun } from '../../testing/kit/bankrun.ts';
import { createRandom } from '../../testing/random.ts';
import { createKinds, RFC_8032 } from './support/signatures/kinds.ts';
import { openScene, type Scene } from './support/signatures/scene.ts';
import { createSigners, type Signed } from './support/signatures/signers.ts';
import {
  createClientVerifiers,
  createLedgerVerifiers,
  createSend,
  type Send,
} from './support/signatures/verifiers.ts';

/**
 * The program's verdict on signatures, beside those of the runtime's precompile, of both builds of the
 * client, and of OpenSSL. `npm run test:long -- signatures --count 100000 --seed 7` sets how many are
 * drawn, and which.
 */

const COUNT = Number(process.env.SIGNATURES ?? 1_000);
/** On a slow machine. */
const MS_PER_SIGNATURE_MAX = 30;
const UNITS_MAX = 19_500;
/** What the token program of solana-bankrun, an old one, takes more for each of two payments. */
const OLD_TRANSFER_UNITS = 4_650;

const OTHERS = ['precompile', 'client', 'browser', 'OpenSSL'];
/** The other verifiers never refuse what the program accepts. */
const VERIFIERS = {
  all: ['prove', 'complete', ...OTHERS, 'ZIP 215'],
  /** The equation holds once it is multiplied by 8, or for other encodings. */
  'ZIP 215 alone': ['ZIP 215'],
  none: [],
} satisfies Record<string, string[]>;

/** Who accepts a signature of each kind. */
const ACCEPTED_BY: Record<keyof ReturnType<typeof createKinds>, keyof typeof VERIFIERS> = {
  honest: 'all',
  'by a key of RFC 8032': 'all',
  'by a mixed key whose small part vanishes': 'all',
  'with a mixed R that a mixed key cancels': 'all',
  'by a mixed key whose small part stays': 'ZIP 215 alone',
  'with a mixed R': 'ZIP 215 alone',
  'by a key of small order': 'ZIP 215 alone',
  'with an R of small order': 'ZIP 215 alone',
  'with an R of small order that a mixed key cancels': 'ZIP 215 alone',
  'with a key and an R of small order': 'ZIP 215 alone',
  'with a multiple of the order added to S': 'none',
  'with a high bit of S': 'none',
  'with one bit flipped': 'none',
  'of another message': 'none',
  'by another key': 'none',
  'by a key with y of p or more': 'none',
  'with an R with y of p or more': 'none',
  'by a key off the curve': 'none',
  'with an R off the curve': 'none',
  'all zero': 'none',
  'of random bytes': 'none',
};
const names = Object.keys(ACCEPTED_BY) as (keyof typeof ACCEPTED_BY)[];
const random = createRandom();

let kinds: ReturnType<typeof createKinds>;
let judge: (signed: Signed, judges: readonly string[]) => string[];
beforeAll(async () => {
  const scene = await openScene();
  kinds = createKinds(signersIn(scene));
  const verifiers: Record<string, (signed: Signed) => boolean> = {
    ...(await createLedgerVerifiers(scene)),
    ...createClientVerifiers(scene),
  };
  judge = (signed, judges) => judges.filter((name) => verifiers[name]?.(signed));
});

const signersIn = ({ messageOf }: Scene) =>
  createSigners(random, (commitment) => node.sha256(messageOf(commitment)));

describe(`a signature (seed ${random.seed})`, () => {
  it.each(names.map((name) => [name, ACCEPTED_BY[name]] as const))(
    '%s: accepted by %s',
    (name, accepted) => {
      const { variants, make } = kinds[name];
      for (let variant = 0; variant < variants; variant += 1) {
        const signed = make(variant);
        const by = judge(signed, VERIFIERS.all);
        expect({ ...signed, by }).toEqual({ ...signed, by: VERIFIERS[accepted] });
      }
    },
  );

  it(
    `is judged by the program as by all others, ${COUNT} times`,
    () => {
      for (let count = 0; count < COUNT; count += 1) {
        const name = names[count % names.length] as (typeof names)[number];
        const { variants, make } = kinds[name];
        const signed = make(random.below(variants));
        const asked = random.below(2) === 0 ? 'prove' : 'complete';
        const judges = [asked, ...OTHERS];
        const by = judge(signed, judges);
        // Comparing takes longer than judging.
        if (ACCEPTED_BY[name] !== 'all' && by.length === 0) continue;
        expect({ name, ...signed, by }).toEqual({ name, ...signed, by: judges });
      }
    },
    10_000 + COUNT * MS_PER_SIGNATURE_MAX,
  );

  it('of RFC 8032 is made and accepted by both builds of the client', async () => {
    expect(RFC_8032).toHaveLength(5);
    for (const { secret, key, message, signature } of RFC_8032) {
      const keypair = await Keypair.fromSeed(secret);
      expect(keypair.publicKey.toBytes()).toEqual(key);
      for (const build of [node, browser]) {
        expect(build.sign(message, keypair)).toEqual(signature);
        const publicKey = new PublicKey(key);
        expect(build.verifySignature({ publicKey, message, signature })).toBe(true);
      }
    }
  });
});

describe.each([
  ['LiteSVM', UNITS_MAX, () => startChain()],
  ['solana-bankrun', UNITS_MAX + 2 * OLD_TRANSFER_UNITS, () => startBankrun()],
] as const)('in %s', (_ledger, unitsMax, start) => {
  let scene: Scene;
  let send: Send;
  beforeAll(async () => {
    scene = await openScene(await start());
    send = await createSend(scene);
  });

  it('the program accepts and refuses the same kinds when they are sent', async () => {
    const own = createKinds(signersIn(scene));
    for (const name of names) {
      const signed = own[name].make(0);
      for (const asked of ['prove', 'complete'] as const) {
        const isAccepted = (await send(asked, signed)) !== undefined;
        expect({ name, asked, isAccepted }).toEqual({
          ...{ name, asked },
          isAccepted: ACCEPTED_BY[name] === 'all',
        });
      }
    }
  });

  it(`a job is completed for at most ${unitsMax} compute units`, async () => {
    const { honest } = createKinds(signersIn(scene));
    for (let count = 0; count < 20; count += 1) {
      expect(await send('complete', honest.make(0))).toBeLessThanOrEqual(unitsMax);
    }
  });
});
