import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';
import type { ConfigSettings } from './configUpdate.ts';

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** Creates the program's one Config, its Treasury and its three token accounts. */
export function configInitialize(
  input: Deployment &
    ConfigSettings & {
      /** The program's upgrade authority; pays the rent. */
      authority: PublicKey;
      creditMint: PublicKey;
      stakeMint: PublicKey;
      /** The program's own id where the old loader owns it, as in solana-bankrun. */
      programData?: PublicKey;
    },
): TransactionInstruction {
  const seeds = [(input.programId ?? PROGRAM_ID).toBytes()];
  const [programData] = PublicKey.findProgramAddressSync(seeds, UPGRADEABLE_LOADER);
  return buildInstruction('config_initialize', { programData, ...input });
}
