import type { Value } from '../../codec.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import { type CallName, callOf, type LedgerTransaction } from './evidence.ts';
import type { JobEvent, JobEventName, JobRecord } from './record.ts';
import { historyRule, NOT_SHOWN } from './rule.ts';

/** The calls of those whose role lets them, which no other rule looks at. */
const CALLS: Partial<Record<JobEventName, CallName>> = {
  JobAcknowledged: 'job_acknowledge',
  JobFailed: 'job_fail',
  JobDisputed: 'job_dispute',
  DisputeAmended: 'job_dispute',
};

/** What an event says of its call is what was signed. */
export const calls = historyRule('history.calls', (record) => {
  const found = record.events.flatMap((event) => judgeCall(event, record) ?? []);
  return (
    found.find(({ verdict }) => verdict === 'fails') ??
    found.find(({ verdict }) => verdict === 'not_checkable') ??
    holds(`Calls that have the values of their events: ${found.length}.`)
  );
});

function judgeCall(event: JobEvent, { addresses }: JobRecord): Finding | undefined {
  const name = CALLS[event.name];
  if (name === undefined) return undefined;
  const asked = callOf(event, [name], addresses.programId);
  if (asked === undefined) return noCall(event, `asks for ${event.name}`);
  const said = new Map<string, Value>(Object.entries(event.data));
  const pairs = Object.entries(asked.values).flatMap(([field, value]) => {
    const found = said.get(field);
    return found === undefined ? [] : [[field, [found, value]] as const];
  });
  return compare(
    {
      ...Object.fromEntries(pairs),
      ...(event.name === 'JobAcknowledged' && {
        'the worker': [event.data.worker, asked.account('worker')] as const,
      }),
      ...(event.name === 'JobDisputed' && {
        'whether the wallet disputed': [
          event.data.disputedByWallet,
          asked.account('signer') === event.data.wallet.toBase58(),
        ] as const,
      }),
    },
    'As it was asked for.',
  );
}

/** No instruction is shown that emits such an event. */
export function noCall(
  { transaction }: { readonly transaction: LedgerTransaction },
  purpose: string,
): Finding {
  return transaction.message
    ? fails(`No instruction of the transaction ${purpose}.`)
    : notCheckable(NOT_SHOWN);
}
