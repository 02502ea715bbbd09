import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { EscrowErrorName } from '../../../programs/client/index.ts';
import { expectRefusal } from './expectations.ts';
import { addresses, type World } from './world.ts';

/** An instruction with these terms in place of good ones. */
type Make = (terms: {
  payout?: PublicKey;
  proofKey?: PublicKey;
  endpoint?: string;
}) => TransactionInstruction;

/** Only a stablecoin token account that is not frozen and not the escrow's may be paid. */
export async function expectPayeesRefused(
  world: World,
  make: Make,
  signer: Keypair,
): Promise<void> {
  const { stakeMint, stranger, creditMint, chain } = world;
  const refused = (name: EscrowErrorName, payout: PublicKey) =>
    expectRefusal(world, name, make({ payout }), [signer]);
  await refused('DuplicateAccount', addresses.vault);
  await refused('DuplicateAccount', addresses.treasuryVault);
  await refused('WrongMint', addresses.stakeVault);
  await refused('WrongMint', world.token(stakeMint, stranger.publicKey));
  await refused('WrongTokenAccount', creditMint);
  await refused('WrongTokenAccount', stranger.publicKey);
  const frozen = world.token(creditMint, stranger.publicKey);
  const holding = { mint: creditMint, owner: stranger.publicKey, baseUnits: 0n };
  chain.setToken(frozen, { ...holding, frozen: true });
  await refused('WrongTokenAccount', frozen);
}

/** Endpoints of 1 to 128 printable bytes of ASCII alone are taken, and any key but zero. */
export async function expectTermsRefused(world: World, make: Make, signer: Keypair): Promise<void> {
  for (const endpoint of ['', 'x'.repeat(129), 'https://\u00e9.example', 'a\tb', 'a\0']) {
    await expectRefusal(world, 'InvalidText', make({ endpoint }), [signer]);
  }
  const zero = make({ proofKey: PublicKey.default });
  await expectRefusal(world, 'ValueOutOfRange', zero, [signer]);
}
