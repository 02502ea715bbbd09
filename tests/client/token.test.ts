import { describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { bytesToHex, hexToBytes } from '../../programs/client/platform/bytes.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import {
  decodeTokenAccount,
  encodeMint,
  encodeTokenAccount,
  FROZEN,
  INITIALIZED,
  type TokenAccount,
} from '../../programs/client/token/layout.ts';

// Every expected value here was made by @solana/spl-token 0.4.15.

const key = (byte: number): PublicKey => new PublicKey(new Uint8Array(32).fill(byte));
const hexOf = (byte: number): string => bytesToHex(new Uint8Array(32).fill(byte));
const [MINT, OWNER, PAYER, AUTHORITY] = [1, 2, 3, 4].map(key) as [
  ...[PublicKey, PublicKey, PublicKey, PublicKey],
];
const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

it('the associated addresses are those of both token programs', () => {
  expect(associatedTokenAddress(MINT, OWNER).toBase58()).toBe(
    '9SBAq6YVfq1ECthq7yBBLdGDoWnhwgDd7kSJ7eZREFDc',
  );
  expect(associatedTokenAddress(MINT, OWNER, TOKEN_2022).toBase58()).toBe(
    'AmuLUGXmvSnMSJQr7WA9FBdMqpmdGvmNekBH2azybabU',
  );
});

const PLAIN: TokenAccount = {
  ...{ mint: MINT, owner: OWNER, amount: 1n, state: INITIALIZED },
  ...{ delegate: null, delegatedAmount: 0n, nativeReserve: null, closeAuthority: null },
};
const FULL: TokenAccount = {
  ...{ mint: MINT, owner: OWNER, amount: 2n ** 63n + 5n, state: FROZEN, delegate: PAYER },
  ...{ delegatedAmount: 9n, nativeReserve: 2_039_280n, closeAuthority: AUTHORITY },
};

describe('a token account', () => {
  it.each([
    [
      'with all fields',
      FULL,
      [
        ...[hexOf(1), hexOf(2), '0500000000000080', '01000000', hexOf(3), '02'],
        ...['01000000', 'f01d1f0000000000', '0900000000000000', '01000000', hexOf(4)],
      ],
    ],
    [
      'with no optional field',
      PLAIN,
      [
        ...[hexOf(1), hexOf(2), '0100000000000000', '00000000', hexOf(0), '01'],
        ...['00000000', '0000000000000000', '0000000000000000', '00000000', hexOf(0)],
      ],
    ],
  ])('%s has the bytes of spl-token and is decoded from them', (_name, account, parts) => {
    expect(bytesToHex(encodeTokenAccount(account))).toBe(parts.join(''));
    expect(decodeTokenAccount(hexToBytes(parts.join('')))).toEqual(account);
  });

  it('is refused at any other length', () => {
    expect(() => decodeTokenAccount(new Uint8Array(164))).toThrow('has 165 bytes, not 164');
    expect(() => decodeTokenAccount(new Uint8Array(166))).toThrow(RangeError);
  });
});

describe('a mint', () => {
  it('has the bytes of spl-token', () => {
    expect(bytesToHex(encodeMint(6))).toBe(`${'00'.repeat(44)}0601${'00'.repeat(36)}`);
  });
});
