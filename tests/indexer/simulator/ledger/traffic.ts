import { buy } from '../../../../testing/indexer/program/credit.ts';
import type { Chance } from '../chance.ts';
import type { FaultRates } from '../faultRates.ts';
import { drawInstructions, WALLETS } from './drawInstructions.ts';
import type { Landed } from './landed.ts';
import type { SimulatedLedger } from './simulatedLedger.ts';

/** What people send to the ledger, and what becomes of it there. */
export interface Traffic {
  /** Transactions that no node lists among the program's. */
  readonly hidden: ReadonlySet<Landed>;
  /** Whether something will follow that shows when the transaction is missing. */
  isFollowed(landed: Landed): boolean;
  /** Lets a few slots pass. */
  step(): void;
  /** Ends with every wallet's last purchase, and makes everything final. */
  end(): void;
}

const SLOTS_PER_STEP_MAX = 5;
const TRANSACTIONS_PER_SLOT_MAX = 2;
/** In a thousand steps; by these, what has vanished is taken back while the faults go on. */
const QUIET_TIMES = 80;
const QUIET_SLOTS = 60;
/** How far finality lags behind: normally 32 slots, longer when votes are late. */
const UNFINAL_SLOTS_MIN = 32;
const UNFINAL_SLOTS_MORE = 40;
/** A vanished transaction is taken back when its blockhash is surely dead: 150 slots. */
const SETTLING_SLOTS = 200;

export function createTraffic(options: {
  ledger: SimulatedLedger;
  chance: Chance;
  rates: () => FaultRates;
}): Traffic {
  const { ledger, chance, rates } = options;
  const hidden = new Set<Landed>();

  /** Every credit account changes once more in the end, so that a change before it is missed. */
  function isFollowed({ accounts }: Landed): boolean {
    const wallets = [...ledger.state.wallets.values()];
    return wallets.some(({ creditAccount }) => accounts.has(creditAccount));
  }

  function landOne(): void {
    const landed = ledger.land(drawInstructions(ledger.state, chance));
    if (chance.happens(rates().hiddenTransactions) && isFollowed(landed)) hidden.add(landed);
  }

  return {
    hidden,
    isFollowed,
    step() {
      for (let slots = 1 + chance.below(SLOTS_PER_STEP_MAX); slots > 0; slots -= 1) {
        ledger.advance(1);
        for (let sent = chance.below(TRANSACTIONS_PER_SLOT_MAX + 1); sent > 0; sent -= 1) landOne();
      }
      if (chance.happens(QUIET_TIMES)) ledger.advance(QUIET_SLOTS);
      if (chance.happens(rates().forks)) ledger.fork();
      ledger.finalize(UNFINAL_SLOTS_MIN + chance.below(UNFINAL_SLOTS_MORE));
    },
    end() {
      ledger.advance(1);
      for (const wallet of WALLETS) ledger.land([buy(wallet, 1n)]);
      ledger.advance(SETTLING_SLOTS);
      ledger.finalize(0);
    },
  };
}
