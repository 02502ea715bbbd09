import type { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { createHeliusFee } from '../../common/heliusFee.ts';
import type { Logger } from '../../common/logger.ts';
import { createBackground } from '../../common/wait.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { createBatcher } from '../../programs/client/sender/batcher.ts';
import { createLedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { createPriorityFee } from '../../programs/client/sender/priorityFee.ts';
import type { createSender } from '../../programs/client/sender/sender.ts';
import {
  ACKNOWLEDGE_COMPUTE_UNITS_MAX,
  EXIT_COMPUTE_UNITS_MAX,
  type LedgerContext,
  LOCK_COMPUTE_UNITS_MAX,
} from './context.ts';

/** How many fit one transaction. */
const LOCKS_MAX = 6;
const ACKNOWLEDGEMENTS_MAX = 12;
const EXITS_MAX = 12;
/** While a lock is in flight the next ones gather, but nobody waits for the others for long. */
const LOCK_LINGER_MS = 250;
/** Nobody waits for an exit but an error message. */
const EXIT_LINGER_MS = 500;
/** A quick answer carries its acknowledgement along in the settlement and saves a transaction. */
const ACKNOWLEDGEMENT_LINGER_MS = 1_000;

/**
 * What ends jobs goes before what begins them. Were they to alternate, a ledger that is slower than
 * the workers would be given ever more locks, and answers that were delivered would not be settled
 * in time.
 */
const URGENT_LANES = ['settlements', 'exits'];

interface LedgerSettings {
  SVC_COMMITMENT: 'confirmed' | 'finalized';
  SVC_FEE_PAYER_KEYS: readonly Keypair[];
  SVC_SIGNER_KEY: Keypair;
  SVC_GATEWAY: PublicKey;
  SVC_SUBMISSIONS_MAX: number;
  SOLANA_WS_URL?: string | undefined;
  HELIUS_API_KEY?: string | undefined;
}

/** Opens everything the API needs to read and move jobs on the ledger, whose node may be away. */
export function connectLedger(options: {
  config: LedgerSettings;
  connection: Connection;
  rpc: Rpc;
  addresses: Addresses;
  logger: Logger;
  createSender: typeof createSender;
}): { context: LedgerContext; close(): void } {
  const { config, connection, rpc, addresses, logger } = options;
  const commitment = config.SVC_COMMITMENT;
  const clock = createLedgerClock({ rpc });
  const sender = options.createSender({
    rpc,
    commitment,
    logger,
    feePayers: config.SVC_FEE_PAYER_KEYS,
    ...(config.SOLANA_WS_URL && { wsUrl: config.SOLANA_WS_URL }),
    submissionsMax: config.SVC_SUBMISSIONS_MAX,
    urgentLanes: URGENT_LANES,
    priorityFee: createPriorityFee({
      rpc,
      writableAccounts: [addresses.vault, addresses.treasuryVault],
      estimate: createHeliusFee(config.HELIUS_API_KEY),
      logger,
      nowMs: () => performance.now(),
    }),
  });
  const context: LedgerContext = {
    connection,
    commitment,
    addresses,
    gateway: config.SVC_GATEWAY,
    signer: config.SVC_SIGNER_KEY,
    sender,
    clock,
    logger,
    lateLocks: createBackground(),
    locks: createBatcher({
      sender,
      lane: 'locks',
      maxInstructions: LOCKS_MAX,
      lingerMs: LOCK_LINGER_MS,
      computeUnitLimitEach: LOCK_COMPUTE_UNITS_MAX,
    }),
    acknowledgements: createBatcher({
      sender,
      lane: 'acknowledgements',
      maxInstructions: ACKNOWLEDGEMENTS_MAX,
      lingerMs: ACKNOWLEDGEMENT_LINGER_MS,
      sendsWhenIdle: false,
      computeUnitLimitEach: ACKNOWLEDGE_COMPUTE_UNITS_MAX,
    }),
    exits: createBatcher({
      sender,
      lane: 'exits',
      maxInstructions: EXITS_MAX,
      lingerMs: EXIT_LINGER_MS,
      computeUnitLimitEach: EXIT_COMPUTE_UNITS_MAX,
    }),
  };
  return {
    context,
    close() {
      clock.close();
      for (const batcher of [context.locks, context.acknowledgements, context.exits]) {
        batcher.close();
      }
      sender.close();
    },
  };
}
