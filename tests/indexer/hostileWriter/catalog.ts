import { TIERS, type Tier } from '../../../programs/client/generated/vocabulary.ts';

import { configUpdate, modelRetire, modelUpsert } from '../../../programs/client/index.ts';
import { tokenMintTo } from '../../../programs/client/token/instructions.ts';
import { addresses, type Scene } from '../../../testing/indexer/scene.ts';
import {
  CREDITS_MAX,
  I64_MAX,
  MODELS_MAX,
  printable,
  STAKE_TOKENS_MAX,
  U32_MAX,
} from './extremes.ts';

/** Locks nearly all that an account can hold. */
const DEAREST = {
  ...{ creditsPerRequest: 1, creditsPer1kTokens: U32_MAX, longCompletionThresholdTokens: 0 },
  tokenLimit: 2_328_306,
};
/** Charges as many credits as 32 bits say, for any answer. */
const FLAT = {
  ...{ creditsPerRequest: U32_MAX, creditsPer1kTokens: U32_MAX, tokenLimit: U32_MAX },
  longCompletionThresholdTokens: U32_MAX,
};
/** The longest answer. */
const CHEAPEST = {
  ...{ creditsPerRequest: 1, creditsPer1kTokens: 1, tokenLimit: U32_MAX },
  longCompletionThresholdTokens: 0,
};

/** A model, and the token limit with which jobs of it are locked. */
export type HostileModel = ReturnType<typeof describe>;

function describe(index: number) {
  const price = index === 0 ? DEAREST : index === 1 ? FLAT : CHEAPEST;
  return {
    ...price,
    id: printable(64, index * 6),
    tier: TIERS[index % 4] as Tier,
    label: printable(16, index * 7),
    originator: printable(32, index * 5),
    contextWindowTokens: U32_MAX,
  };
}

const models = Array.from({ length: MODELS_MAX }, (_, index) => describe(index));

/** As many models as a worker can host. */
export const HOSTED: readonly HostileModel[] = models;
export const [dearest, flat, cheapest] = models as [HostileModel, HostileModel, HostileModel];

/** What every verdict together may cost the treasury. */
const TREASURY_BASE_UNITS = 10n ** 17n;

/**
 * What the authority can do: raises every bound as far as it goes, fills the catalog, and lays in
 * what verdicts will cost.
 */
export async function widenBounds({ ledger, service, send }: Scene): Promise<void> {
  const authority = ledger.payer.publicKey;
  const terms = {
    ...{ authority, arbiter: service.arbiter.publicKey },
    ...{ treasuryShareBasisPoints: 1_500, unstakeCooldownSeconds: 48 * 3_600 },
    ...{ openDisputesMax: 0xff, slashTokens: U32_MAX },
    ...{ jobCreditsMax: CREDITS_MAX, creditAccountCreditsMax: CREDITS_MAX },
    treasuryFloorCredits: CREDITS_MAX,
  };
  await send(
    [
      configUpdate({ ...terms, minimumStakeTokens: STAKE_TOKENS_MAX }),
      configUpdate({ ...terms, minimumStakeTokens: BigInt(U32_MAX) }),
    ],
    [],
  );
  const { treasuryVault } = addresses;
  const { credit } = service.mints;
  await send(
    [
      tokenMintTo({
        mint: credit,
        account: treasuryVault,
        authority,
        baseUnits: TREASURY_BASE_UNITS,
      }),
    ],
    [],
  );
  for (const model of models) await send([modelUpsert({ ...model, authority })], []);
  const modelId = models.at(-1)?.id ?? '';
  await send([modelRetire({ authority, modelId, retiresAt: I64_MAX })], []);
}
