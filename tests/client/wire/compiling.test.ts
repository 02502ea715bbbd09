import { describe, expect, it } from '@jest/globals';
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { compileMessage, encodeMessage } from '../../../programs/client/wire/index.ts';
import { createRandom } from '../../../testing/random.ts';

const random = createRandom();
const MESSAGES = 500;

const tableOf = (addresses: PublicKey[]) => ({
  addresses,
  deactivationSlot: 2n ** 64n - 1n,
  lastExtendedSlot: 0,
  lastExtendedSlotStartIndex: 0,
});

/** Instructions over a few accounts, and who pays. */
function draw() {
  const keys = Array.from({ length: 1 + random.below(20) }, () => new PublicKey(random.bytes(32)));
  const pick = () => keys[random.below(keys.length)] as PublicKey;
  const instructions = Array.from({ length: 1 + random.below(6) }, () => {
    const accounts = Array.from({ length: random.below(10) }, () => ({
      pubkey: new PublicKey(pick().toBytes()),
      isSigner: random.below(5) === 0,
      isWritable: random.below(2) === 0,
    }));
    const data = Buffer.from(random.bytes(random.below(100)));
    return new TransactionInstruction({ programId: pick(), keys: accounts, data });
  });
  return { keys, instructions, feePayer: pick(), blockhash: random.bytes(32) };
}

/** What web3.js compiles; undefined where it does not fit into a packet. */
function serialize(message: { serialize(): Uint8Array }): string | undefined {
  try {
    return Buffer.from(message.serialize()).toString('hex');
  } catch {
    return undefined;
  }
}

describe(`a compiled message (seed ${random.seed})`, () => {
  it.each(['legacy', 0] as const)(
    'equals that of web3.js byte for byte in version %s',
    (version) => {
      let compared = 0;
      for (let made = 0; made < MESSAGES; made += 1) {
        const { keys, instructions, feePayer, blockhash } = draw();
        const addresses = keys.filter(() => random.below(3) === 0);
        const key = new PublicKey(random.bytes(32));
        const draft = new TransactionMessage({
          payerKey: feePayer,
          instructions,
          recentBlockhash: new PublicKey(blockhash).toBase58(),
        });
        const table = new AddressLookupTableAccount({ key, state: tableOf(addresses) });
        const theirs =
          version === 0 ? draft.compileToV0Message([table]) : draft.compileToLegacyMessage();
        const ours = compileMessage({
          ...{ version, feePayer, instructions, blockhash },
          table: version === 0 ? { key, addresses } : undefined,
        });
        const expected = serialize(theirs);
        if (expected !== undefined) {
          expect(Buffer.from(encodeMessage(ours)).toString('hex')).toBe(expected);
          compared += 1;
        }
        expect(ours.signers.map(String)).toEqual(
          theirs.staticAccountKeys.slice(0, theirs.header.numRequiredSignatures).map(String),
        );
      }
      expect(compared).toBeGreaterThan(MESSAGES / 2);
    },
  );

  it('has the legacy accounts in version 1, and a config instead of a table', () => {
    const { instructions, feePayer, blockhash } = draw();
    const config = { computeUnitLimit: 200_000, priorityFeeLamports: 5n };
    const parts = { instructions, feePayer, blockhash };
    const legacy = compileMessage({ ...parts, version: 'legacy' });
    expect(compileMessage({ ...parts, version: 1, config })).toEqual({
      ...legacy,
      ...{ version: 1, config },
    });
  });
});
