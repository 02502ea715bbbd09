import { z } from 'zod';
import { decodeMessage, MalformedTransactionError } from '../../../programs/client/wire/index.ts';
import { feeOf } from '../../bank/fees.ts';
import { SLOTS_PER_EPOCH } from '../../runtime/runtime.ts';
import { addressText, decodeBase64, exact } from '../../wire/text.ts';
import {
  contextOf,
  invalidParams,
  method,
  type RpcContext,
  SOLANA_VERSION,
  stateMethod,
  withContext,
} from '../protocol/method.ts';
import {
  address,
  config as configuration,
  optional,
  reading,
  slot as slotParameter,
} from '../protocol/parameters.ts';

const SLOTS_IN_EPOCH = Number(SLOTS_PER_EPOCH);
const WRITABLE_MAX = 128;
const LARGEST_MAX = 20;
const REWARDS_MAX = 1_024;
/** 4,096 bytes have 5,464 characters in base64. */
const MESSAGE_CHARACTERS_MAX = 6_000;
const MS_PER_SECOND = 1_000;
/** Of a certificate of Alpenglow's genesis; here it has no signers. */
const CERTIFICATE_SIGNATURE_BYTES = 192;

const leading = configuration(z.object({ identity: optional(address) }));

/** Methods about the cluster. This one has a single node without votes and rewards. */
export const clusterMethods = {
  getHealth: method({}, () => 'ok'),
  getGenesisHash: method({}, ({ genesisHash }) => genesisHash),
  /** Slot 0 has the genesis, as on a cluster that began with Alpenglow. */
  getAgGenesisCert: method({}, ({ bank, isAlpenglow }) =>
    isAlpenglow
      ? {
          block: { slot: 0, blockId: [...bank.blockhashes.at(0)] },
          signature: {
            signature: Array.from({ length: CERTIFICATE_SIGNATURE_BYTES }, () => 0),
            bitmap: [1],
          },
        }
      : null,
  ),
  getIdentity: method({}, ({ faucet }) => ({ identity: addressText(faucet.address) })),
  getVersion: method({}, () => ({
    'feature-set': 0,
    'solana-core': SOLANA_VERSION,
    'svc-localnet': 1,
  })),
  getTransactionCount: method({ config: reading }, ({ bank }) => bank.transactionCount()),

  getEpochInfo: method({ config: reading }, (context, { config }) => {
    const { slot } = contextOf(context, config);
    return {
      absoluteSlot: slot,
      blockHeight: context.bank.mood.heightOf(slot),
      epoch: Math.floor(slot / SLOTS_IN_EPOCH),
      slotIndex: slot % SLOTS_IN_EPOCH,
      slotsInEpoch: SLOTS_IN_EPOCH,
      transactionCount: context.bank.transactionCount(),
    };
  }),

  getEpochSchedule: method({}, () => ({
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
    warmup: false,
    leaderScheduleSlotOffset: SLOTS_IN_EPOCH,
    slotsPerEpoch: SLOTS_IN_EPOCH,
  })),

  getClusterNodes: method({}, ({ faucet }) => [
    {
      featureSet: 0,
      gossip: null,
      pubsub: null,
      rpc: null,
      shredVersion: 0,
      tpu: null,
      pubkey: addressText(faucet.address),
      version: SOLANA_VERSION,
    },
  ]),
  getVoteAccounts: method({ config: configuration(z.object({})) }, () => ({
    current: [],
    delinquent: [],
  })),
  getSlotLeader: method({ config: reading }, ({ faucet }) => addressText(faucet.address)),
  getSlotLeaders: method(
    { first: z.int().nonnegative(), limit: z.int().min(1).max(5_000) },
    ({ faucet }, { limit }) => Array.from({ length: limit }, () => addressText(faucet.address)),
  ),
  /** The single node leads every slot. */
  getLeaderSchedule: method(
    { slot: z.union([optional(slotParameter), leading]), config: leading },
    ({ faucet }, { slot, config }) => {
      const { identity } = (typeof slot === 'object' ? slot : config) ?? {};
      const leader = addressText(faucet.address);
      if (identity && addressText(identity) !== leader) return {};
      return { [leader]: Array.from({ length: SLOTS_IN_EPOCH }, (_, index) => index) };
    },
  ),
  getBlockProduction: method({ config: configuration(z.object({})) }, ({ bank, faucet }) => {
    const lastSlot = bank.slot('confirmed');
    const firstSlot = lastSlot - (lastSlot % SLOTS_IN_EPOCH);
    const slots = lastSlot - firstSlot + 1;
    return withContext(lastSlot, {
      byIdentity: { [addressText(faucet.address)]: [slots, slots] },
      range: { firstSlot, lastSlot },
    });
  }),
  getInflationReward: method(
    { addresses: z.array(address).max(REWARDS_MAX), config: configuration(z.object({})) },
    (_, { addresses }) => addresses.map(() => null),
  ),
  getInflationGovernor: method({ config: reading }, () => ({
    foundation: 0,
    foundationTerm: 0,
    initial: 0,
    taper: 0,
    terminal: 0,
  })),
  getInflationRate: method({}, ({ bank }) => ({
    epoch: Math.floor(bank.slot('finalized') / SLOTS_IN_EPOCH),
    foundation: 0,
    total: 0,
    validator: 0,
  })),
  getStakeMinimumDelegation: stateMethod({ config: reading }, () => 1_000_000_000),

  getSupply: stateMethod({ config: reading }, (context) => {
    const total = exact(lamportsOfAll(context).reduce((sum, [, lamports]) => sum + lamports, 0n));
    return { circulating: total, nonCirculating: 0, nonCirculatingAccounts: [], total };
  }),

  getLargestAccounts: stateMethod({ config: reading }, (context) =>
    lamportsOfAll(context)
      .sort(([, one], [, other]) => (other > one ? 1 : -1))
      .slice(0, LARGEST_MAX)
      .map(([of, lamports]) => ({ address: addressText(of), lamports: exact(lamports) })),
  ),

  getFeeForMessage: stateMethod({ message: z.string(), config: reading }, ({ bank }, given) => {
    const message = readMessage(given.message);
    const isAlive = bank.blockhashes.slotOf(message.recentBlockhash, bank.slot('processed'));
    return isAlive === undefined ? null : exact(feeOf(message));
  }),

  /** There is no competition for this ledger's blocks, so the lowest fee is zero. */
  getRecentPrioritizationFees: method(
    { writable: optional(z.array(address).max(WRITABLE_MAX)) },
    ({ bank }) => [{ prioritizationFee: 0, slot: bank.slot('confirmed') }],
  ),

  getRecentPerformanceSamples: method({ limit: optional(z.int().min(1).max(720)) }, ({ bank }) => {
    const samplePeriodSecs = 60;
    const numSlots = Math.floor((samplePeriodSecs * MS_PER_SECOND) / bank.timeline.slotMs);
    const numTransactions = bank.transactionCount();
    const slot = bank.slot('confirmed');
    return [
      {
        numNonVoteTransactions: numTransactions,
        numSlots,
        numTransactions,
        samplePeriodSecs,
        slot,
      },
    ];
  }),
};

function lamportsOfAll({ bank }: RpcContext): [address: Uint8Array, lamports: bigint][] {
  return [...bank.store.accounts()].map(([of, { lamports }]) => [of, lamports]);
}

function readMessage(text: string) {
  if (text.length > MESSAGE_CHARACTERS_MAX) throw invalidParams('message: too large');
  const bytes = decodeBase64(text);
  if (!bytes) throw invalidParams('message: invalid base64 encoding');
  try {
    return decodeMessage(bytes);
  } catch (error) {
    if (!(error instanceof MalformedTransactionError)) throw error;
    throw invalidParams(`message: ${error.message}`);
  }
}
