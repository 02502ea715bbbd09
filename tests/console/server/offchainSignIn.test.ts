import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  getOffchainMessageV0Encoder,
  getOffchainMessageV1Encoder,
  type OffchainMessageV0,
  type OffchainMessageV1,
} from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { sign } from '../../../programs/client/proof.ts';
import { type ConsoleScene, openConsoleScene, PUBLIC_URL } from './consoleScene.ts';

let scene: ConsoleScene;
let wallet: Keypair;

beforeAll(async () => {
  scene = await openConsoleScene();
  wallet = scene.wallet;
});
afterAll(() => scene.close());

const NO_APPLICATION = '1'.repeat(32);
const DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const u16 = (value: number) => Buffer.of(value & 0xff, value >> 8);
const keyOf = ({ publicKey }: Keypair) => publicKey.toBytes();

/** As the libraries of wallets write it. */
const byKit = {
  version0: (text: string, wallets: Keypair[], format = 1) =>
    Buffer.from(
      getOffchainMessageV0Encoder().encode({
        version: 0,
        applicationDomain: NO_APPLICATION,
        content: { format, text },
        requiredSignatories: wallets.map(({ publicKey }) => ({ address: publicKey.toBase58() })),
      } as unknown as OffchainMessageV0),
    ),
  version1: (text: string, wallets: Keypair[]) =>
    Buffer.from(
      getOffchainMessageV1Encoder().encode({
        version: 1,
        content: text,
        requiredSignatories: wallets.map(({ publicKey }) => ({ address: publicKey.toBase58() })),
      } as unknown as OffchainMessageV1),
    ),
};

interface Wide {
  readonly application?: string;
  readonly format?: number;
  readonly signers?: Keypair[];
  readonly length?: number;
}

function wide(text: string, { application = '', format = 1, signers = [wallet], length }: Wide) {
  const domain = Buffer.alloc(32);
  domain.write(application);
  const header = [DOMAIN, Buffer.of(0), domain, Buffer.of(format, signers.length)];
  return Buffer.concat([
    ...header,
    ...signers.map(keyOf),
    ...[u16(length ?? text.length), Buffer.from(text)],
  ]);
}

const short = (text: string, format = 1, version = 0) =>
  Buffer.concat([DOMAIN, Buffer.of(version, format), u16(text.length), Buffer.from(text)]);

/** Signs in with what `form` makes of the text. */
async function signInWith(form: (text: string) => Buffer, named = form, signer = wallet) {
  const address = wallet.publicKey.toBase58();
  const { message, input } = (await scene.call('POST /session/message', { body: { address } }))
    .body;
  const answer = await scene.call('POST /session', {
    body: {
      ...{ address, nonce: input.nonce },
      signed_message: named(message).toString('base64'),
      signature: Buffer.from(sign(form(message), signer)).toString('base64'),
    },
  });
  return answer.status === 200 ? 'session' : answer.body.error.message;
}

const bare = (text: string) => Buffer.from(text);
const host = new URL(PUBLIC_URL).host;

const ENVELOPES: Record<string, (text: string) => Buffer> = {
  'the short header of version 0': (text) => short(text),
  'the wide header of version 0': (text) => byKit.version0(text, [wallet]),
  'the wide header that counts line feeds as ASCII': (text) => wide(text, { format: 0 }),
  'the wide header that names this host': (text) => wide(text, { application: host }),
  'version 1': (text) => byKit.version1(text, [wallet]),
  'version 1 with a length': (text) =>
    Buffer.concat([DOMAIN, Buffer.of(1, 1), keyOf(wallet), u16(text.length), Buffer.from(text)]),
};

describe("a hardware wallet's sign-in", () => {
  it.each(Object.entries(ENVELOPES))('opens a session by %s', async (_, envelope) => {
    expect(await signInWith(envelope)).toBe('session');
    // Wallets that return the text in place of what the device signed.
    expect(await signInWith(envelope, bare)).toBe('session');
  });

  it.each(Object.entries(ENVELOPES))(
    'is refused for another text or another signature in %s',
    async (_, envelope) => {
      const another = (text: string) => envelope(text.replace('Sign in', 'Sign up'));
      expect(await signInWith(another)).toContain('Another text was signed');
      for (const [signed, named, signer] of [
        [another, bare],
        [another, envelope],
        [envelope, envelope, scene.stranger],
      ] as const) {
        expect(await signInWith(signed, named, signer)).toContain('not of this wallet');
      }
    },
  );

  it('is refused in an envelope that is none of these, to its last byte', async () => {
    const { stranger } = scene;
    const both = [wallet, stranger];
    const others: Record<string, (text: string) => Buffer> = {
      'another signer': (text) => wide(text, { signers: [stranger] }),
      'two signers': (text) => wide(text, { signers: both }),
      'the same signer twice': (text) => wide(text, { signers: [wallet, wallet] }),
      'no signer': (text) => wide(text, { signers: [] }),
      'another signer in version 1': (text) => byKit.version1(text, [stranger]),
      'two signers in version 1': (text) => byKit.version1(text, both),
      'unsorted signers in version 1': (text) =>
        Buffer.concat([DOMAIN, Buffer.of(1, 2), ...both.map(keyOf), Buffer.from(text)]),
      'another application': (text) => wide(text, { application: 'evil.example.com' }),
      'a longer application': (text) => wide(text, { application: `${host}.evil` }),
      'the long format': (text) => byKit.version0(text, [wallet], 2),
      'a format of no text': (text) => wide(text, { format: 3 }),
      'ASCII in the short header': (text) => short(text, 0),
      'the short header of version 1': (text) => short(text, 1, 1),
      'version 2': (text) => Buffer.concat([DOMAIN, Buffer.of(2, 1), keyOf(wallet), bare(text)]),
      'a greater length': (text) => wide(text, { length: text.length + 1 }),
      'a smaller length': (text) => wide(text, { length: text.length - 1 }),
      'a byte behind the text': (text) => Buffer.concat([wide(text, {}), Buffer.of(10)]),
      'a byte less': (text) => wide(text, {}).subarray(0, -1),
      'another signing domain': (text) => Buffer.concat([Buffer.of(0xfe), short(text).subarray(1)]),
      'the domain alone': (text) => Buffer.concat([DOMAIN, bare(text)]),
      'an envelope in an envelope': (text) => short(short(text).toString('latin1')),
      nothing: () => Buffer.of(),
    };
    const answers = await Promise.all(
      Object.entries(others).map(async ([name, form]) => [
        name,
        await signInWith(form),
        await signInWith(form, bare),
      ]),
    );
    expect(answers).toEqual(
      Object.keys(others).map((name) => [
        name,
        'Another text was signed than the one to sign.',
        'The signature is not of this wallet.',
      ]),
    );
  });
});
