import { describe, expect, it } from '@jest/globals';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { bytesToHex, hexToBytes } from '../../programs/client/platform/bytes.ts';
import {
  associatedTokenAddress,
  mintInitialize,
  tokenAccountCreate,
  tokenMintTo,
} from '../../programs/client/token/instructions.ts';
import {
  decodeTokenAccount,
  encodeMint,
  encodeTokenAccount,
  FROZEN,
  INITIALIZED,
  type TokenAccount,
} from '../../programs/client/token/layout.ts';
import { tokenAccountClose, tokenApprove, tokenTransfer } from '../../testing/ledger/tokens.ts';

// Every expected value here was made by @solana/spl-token 0.4.15.

const key = (byte: number): PublicKey => new PublicKey(new Uint8Array(32).fill(byte));
const hexOf = (byte: number): string => bytesToHex(new Uint8Array(32).fill(byte));
const [MINT, OWNER, PAYER, AUTHORITY, ACCOUNT, OTHER] = [1, 2, 3, 4, 5, 6].map(key) as [
  ...[PublicKey, PublicKey, PublicKey, PublicKey, PublicKey, PublicKey],
];
const ASSOCIATED = new PublicKey('9SBAq6YVfq1ECthq7yBBLdGDoWnhwgDd7kSJ7eZREFDc');
const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const NAMES = new Map(
  Object.entries({ MINT, OWNER, PAYER, AUTHORITY, ACCOUNT, OTHER, ASSOCIATED }).map(
    ([name, address]) => [address.toBase58(), name],
  ),
);

/** Its accounts by their names here, each with s where it signs and w where it is written. */
const describeInstruction = ({ programId, keys, data }: TransactionInstruction) => ({
  program: programId.toBase58(),
  accounts: keys.map(
    ({ pubkey, isSigner, isWritable }) =>
      `${NAMES.get(pubkey.toBase58()) ?? pubkey} ${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`,
  ),
  data: data.toString('hex'),
});

describe('an instruction of the token program', () => {
  it.each([
    [
      'mint initialization',
      mintInitialize({ mint: MINT, authority: AUTHORITY, decimals: 6 }),
      ['MINT w'],
      `1406${hexOf(4)}00`,
    ],
    [
      'minting',
      tokenMintTo({ mint: MINT, account: ACCOUNT, authority: AUTHORITY, baseUnits: 1_500_000n }),
      ['MINT w', 'ACCOUNT w', 'AUTHORITY s'],
      '0760e3160000000000',
    ],
    [
      'transfer',
      tokenTransfer({ source: ACCOUNT, destination: OTHER, owner: OWNER, baseUnits: 7n }),
      ['ACCOUNT w', 'OTHER w', 'OWNER s'],
      '030700000000000000',
    ],
    [
      'approval',
      tokenApprove({ account: ACCOUNT, delegate: OTHER, owner: OWNER, baseUnits: 7n }),
      ['ACCOUNT w', 'OTHER ', 'OWNER s'],
      '040700000000000000',
    ],
    [
      'closing',
      tokenAccountClose({ account: ACCOUNT, destination: OTHER, owner: OWNER }),
      ['ACCOUNT w', 'OTHER w', 'OWNER s'],
      '09',
    ],
  ])('equals that of spl-token: %s', (_name, instruction, accounts, data) => {
    expect(describeInstruction(instruction)).toEqual({ program: TOKEN, accounts, data });
  });

  it('creates an associated token account as spl-token does', () => {
    const create = tokenAccountCreate({ payer: PAYER, owner: OWNER, mint: MINT });
    expect(describeInstruction(create)).toEqual({
      program: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
      accounts: ['PAYER sw', 'ASSOCIATED w', 'OWNER ', 'MINT ', `${SYSTEM} `, `${TOKEN} `],
      data: '01',
    });
  });

  it('uses the associated addresses of both token programs', () => {
    expect(associatedTokenAddress(MINT, OWNER)).toEqual(ASSOCIATED);
    expect(associatedTokenAddress(MINT, OWNER, TOKEN_2022).toBase58()).toBe(
      'AmuLUGXmvSnMSJQr7WA9FBdMqpmdGvmNekBH2azybabU',
    );
  });
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
