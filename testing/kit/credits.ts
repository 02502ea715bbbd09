import {
  type CreditAccount,
  claimPay,
  creditWithdraw,
  type Treasury,
  type Worker,
} from '../../programs/client/index.ts';
import { addresses, type Cast, type TestWallet, type TestWorker } from './cast.ts';
import { buyInstruction } from './setUp.ts';

/** Purchases, withdrawals and claims. */
export interface CreditVerbs {
  /** Buys credits with the wallet's stablecoin; by default for the first wallet. */
  buy(credits: bigint, wallet?: TestWallet): Promise<CreditAccount>;
  /** Withdraws available credits as stablecoin; by default for the first wallet. */
  withdraw(credits: bigint, wallet?: TestWallet): Promise<CreditAccount>;
  /** Pays what a wallet, a worker or the treasury is owed. Any key may call it. */
  claim(claimant: TestWallet | TestWorker | 'treasury'): Promise<void>;
  /** A wallet's CreditAccount on the ledger; by default the first wallet's. */
  creditAccount(wallet?: TestWallet): Promise<CreditAccount>;
  /** A worker's account on the ledger; by default the first worker's. */
  worker(worker?: TestWorker): Promise<Worker>;
  treasury(): Promise<Treasury>;
}

export function createCreditVerbs(cast: Cast): CreditVerbs {
  const { chain } = cast;
  const creditAccount = (wallet = cast.wallets[0]): Promise<CreditAccount> =>
    cast.read('CreditAccount', wallet.creditAccount);

  return {
    creditAccount,
    worker: (worker = cast.workers[0]) => cast.read('Worker', worker.address),
    treasury: () => cast.read('Treasury', addresses.treasury),

    async buy(credits, wallet = cast.wallets[0]) {
      await chain.send([buyInstruction(wallet, credits)], [wallet.keypair]);
      return creditAccount(wallet);
    },

    async withdraw(credits, wallet = cast.wallets[0]) {
      const { keypair, tokens } = wallet;
      const instruction = creditWithdraw({
        wallet: keypair.publicKey,
        destination: tokens,
        credits,
      });
      await chain.send([instruction], [keypair]);
      return creditAccount(wallet);
    },

    async claim(claimant) {
      if (claimant === 'treasury') {
        await chain.send([claimPay({ claimant: addresses.treasury })]);
      } else if ('payout' in claimant) {
        const { address, payout } = claimant;
        await chain.send([claimPay({ claimant: address, payout })]);
      } else {
        await chain.send([claimPay({ claimant: claimant.creditAccount })]);
      }
    },
  };
}
