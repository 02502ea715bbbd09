import { PublicKey } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  claimPay,
  configUpdate,
  gatewayOpen,
  gatewayUpdate,
  gatewayVouch,
  modelRetire,
  pauseSet,
  slashBurn,
  treasuryWithdraw,
} from '../../../../programs/client/index.ts';
import { addresses, BASE_UNITS_PER_CREDIT, MODEL, modelInstruction, SETTINGS } from '../world.ts';
import type { Books } from './books.ts';
import { attempt, choose, isFrozen, rarely, type Step, type Walk } from './walk.ts';

const NOTICE_SECONDS = 30n * 86_400n;

/** The authority, now and then a former one or somebody else. */
const governor = (walk: Walk) => {
  const { world, books } = walk;
  const signer = rarely(walk, 8) ? choose(walk, world.authority, world.stranger) : books.authority;
  return { signer, authority: signer.publicKey, isAuthority: signer === books.authority };
};

const updateConfig: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const { world, books } = walk;
  const terms = {
    treasuryShareBasisPoints: choose(walk, 1_500, 0, 10_000, 10_001),
    slashTokens: choose(walk, 500, 0, 1_000),
    openDisputesMax: choose(walk, 3, 1, 255),
    unstakeCooldownSeconds: choose(walk, 172_800, 90_180, 30 * 86_400),
  };
  const treasuryFloorCredits = choose(walk, 0n, 0n, 1n, 2n);
  const allowed = isAuthority && terms.treasuryShareBasisPoints <= 10_000;
  const arbiter = world.arbiter.publicKey;
  const instruction = configUpdate({
    ...{ authority, ...SETTINGS, arbiter, ...terms, treasuryFloorCredits },
  });
  if (!(await attempt(walk, allowed, instruction))) return;
  books.terms = terms;
  setFloor(books, treasuryFloorCredits);
};

/** A lowered floor counts only when its notice is over. */
const FLOOR_NOTICE_SECONDS = 26n * 3_600n;

const floorInForce = ({ now, floor }: Books): bigint =>
  now < floor.earlierEndsAt && floor.earlierCredits > floor.credits
    ? floor.earlierCredits
    : floor.credits;

function setFloor(books: Books, credits: bigint): void {
  const { floor, now } = books;
  if (credits < floor.credits) {
    floor.earlierCredits = floorInForce(books);
    floor.earlierEndsAt = now + FLOOR_NOTICE_SECONDS;
  }
  floor.credits = credits;
}

/** Pauses are short: most of the time both flags are down. */
const pause: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const flags = { depositsPaused: rarely(walk, 5), locksPaused: rarely(walk, 10) };
  const instruction = pauseSet({ authority, ...flags });
  if (await attempt(walk, isAuthority, instruction)) Object.assign(walk.books, flags);
};

const propose: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const { world, books } = walk;
  const heir = choose(walk, world.stranger, world.authority, world.arbiter, null);
  const pendingAuthority = heir?.publicKey ?? PublicKey.default;
  const instruction = authorityPropose({ authority, pendingAuthority });
  const allowed = isAuthority && heir !== world.arbiter;
  if (await attempt(walk, allowed, instruction)) books.pendingAuthority = heir;
};

const accept: Step = async (walk) => {
  const { world, books } = walk;
  const heir = choose(walk, world.stranger, world.authority);
  const instruction = authorityAccept({ pendingAuthority: heir.publicKey });
  if (!(await attempt(walk, books.pendingAuthority === heir, instruction))) return;
  Object.assign(books, { authority: heir, pendingAuthority: null });
};

const withdrawTreasury: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const { world, books } = walk;
  const { treasury, wallets } = books;
  const owed = wallets.reduce(
    (sum, wallet) => sum + wallet.owedCredits * BASE_UNITS_PER_CREDIT,
    0n,
  );
  const kept = owed + treasury.exposureBaseUnits + floorInForce(books) * BASE_UNITS_PER_CREDIT;
  const free = treasury.baseUnits - kept;
  const baseUnits = choose(walk, free > 0n ? free : 1n, free > 0n ? free + 1n : 2n, 1n, 0n);
  const allowed =
    isAuthority && baseUnits > 0n && baseUnits <= free && !isFrozen(walk, addresses.treasuryVault);
  const destination = world.walletTokens;
  const instruction = treasuryWithdraw({ authority, destination, baseUnits });
  if (await attempt(walk, allowed, instruction)) treasury.baseUnits -= baseUnits;
};

/** Pays the treasury what it could not be paid at settlement. */
export const claimTreasury: Step = async (walk) => {
  const { treasury } = walk.books;
  const canPay = !isFrozen(walk, addresses.vault) && !isFrozen(walk, addresses.treasuryVault);
  const instruction = claimPay({ claimant: addresses.treasury });
  if (!(await attempt(walk, treasury.unpaidBaseUnits > 0n && canPay, instruction))) return;
  treasury.baseUnits += treasury.unpaidBaseUnits;
  treasury.unpaidBaseUnits = 0n;
};

const openGateway: Step = async (walk) => {
  const { world } = walk;
  const isNew = rarely(walk, 2);
  const operator = isNew ? await world.person() : world.operator;
  const by = { payer: operator.publicKey, operator: operator.publicKey };
  const instruction = gatewayOpen({ ...by, signers: [world.hotSigner.publicKey] });
  await attempt(walk, isNew, instruction);
};

/** Revocations are short: most of the time the gateway can lock. */
const updateGateway: Step = async (walk) => {
  const { world, books } = walk;
  const gateway = { trustsHotSigner: !rarely(walk, 10), stopped: rarely(walk, 10) };
  const instruction = gatewayUpdate({
    operator: world.operator.publicKey,
    signers: [(gateway.trustsHotSigner ? world.hotSigner : world.operator).publicKey],
    stopped: gateway.stopped,
  });
  await attempt(walk, true, instruction);
  Object.assign(books.gateway, gateway);
};

const vouchForGateway: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const { world, books } = walk;
  const vouched = !rarely(walk, 3);
  const instruction = gatewayVouch({ authority, gateway: world.gateway, vouched });
  if (await attempt(walk, isAuthority, instruction)) books.gateway.vouched = vouched;
};

/** Burns what verdicts took. */
const burnSlashed: Step = async (walk) => {
  const { world, books } = walk;
  const allowed = books.treasury.slashedTokens > 0n && !isFrozen(walk, addresses.stakeVault);
  const instruction = slashBurn({ stakeMint: world.stakeMint });
  if (await attempt(walk, allowed, instruction)) books.treasury.slashedTokens = 0n;
};

const upsertModel: Step = async (walk) => {
  const { signer, isAuthority } = governor(walk);
  const prices = {
    creditsPerRequest: choose(walk, 8, 1, 20, 0),
    creditsPer1kTokens: choose(walk, 4, 1, 9),
  };
  const allowed = isAuthority && prices.creditsPerRequest > 0;
  const instruction = modelInstruction({ authority: signer }, prices);
  if (await attempt(walk, allowed, instruction)) walk.books.prices = prices;
};

const retireModel: Step = async (walk) => {
  const { authority, isAuthority } = governor(walk);
  const { books } = walk;
  const soonest = books.now + NOTICE_SECONDS;
  const retiresAt = choose(walk, 0n, 0n, 0n, 0n, soonest, soonest - 1n);
  const allowed = isAuthority && (retiresAt === 0n || retiresAt >= soonest);
  const instruction = modelRetire({ authority, modelId: MODEL.id, retiresAt });
  if (await attempt(walk, allowed, instruction)) books.retiresAt = retiresAt;
};

export const governanceSteps: readonly Step[] = [
  updateConfig,
  pause,
  propose,
  accept,
  withdrawTreasury,
  claimTreasury,
  openGateway,
  updateGateway,
  vouchForGateway,
  burnSlashed,
  upsertModel,
  retireModel,
];
