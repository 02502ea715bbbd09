import type { PublicKey } from '@solana/web3.js';
import type { DecodedAccount } from '../../../accounts.ts';
import type { Addresses } from '../../../addresses.ts';
import { modelText } from '../../../views.ts';
import { judgeProblems, programRule } from '../rule.ts';

/** Nothing that belongs to the program is of a kind or version that is not understood. */
export const readable = programRule('accounts.readable', ({ unreadable, decoded, blank }) =>
  judgeProblems(
    unreadable.map(({ address, reason }) => `${address}: ${reason}`),
    `Accounts: ${decoded.size}; blank ones, which mean nothing: ${blank.length}.`,
  ),
);

/** Each account is at the only address where the program would have made it. */
export const addresses = programRule('accounts.addresses', ({ addresses: known, decoded }) =>
  judgeProblems(
    [...decoded].flatMap(([address, account]) => {
      const expected = addressOf(account, known).toBase58();
      return expected === address ? [] : [`${account.name} ${address} should be at ${expected}`];
    }),
    'Every account is where its seeds put it.',
  ),
);

function addressOf({ name, data }: DecodedAccount, known: Addresses): PublicKey {
  switch (name) {
    case 'Config':
      return known.config;
    case 'Treasury':
      return known.treasury;
    case 'Gateway':
      return known.gateway(data.operator);
    case 'CreditAccount':
      return known.creditAccount(data.wallet);
    case 'Model':
      return known.model(modelText(data).id);
    case 'Worker':
      return known.worker(data.authority);
    case 'Job':
      return known.job(data.creditAccount, data.jobId);
  }
}
