import { describe, expect, it } from '@jest/globals';
import { PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import {
  type AccountName,
  type DecodedEvent,
  decodeAccount,
  IDL,
} from '../../programs/client/index.ts';
import { walkThrough } from './support/walkthrough.ts';
import { addresses } from './support/world.ts';

type Values = Record<string, unknown>;

/** Which accounts an event speaks of: their sequence's field, and where their address is found. */
const spokenOf: { kind: AccountName; sequence: string; address: (data: Values) => unknown }[] = [
  { kind: 'Config', sequence: 'configSequence', address: () => addresses.config },
  { kind: 'Treasury', sequence: 'treasurySequence', address: () => addresses.treasury },
  { kind: 'Gateway', sequence: 'gatewaySequence', address: (data) => data.gateway },
  { kind: 'Model', sequence: 'modelSequence', address: (data) => data.model },
  { kind: 'CreditAccount', sequence: 'creditSequence', address: (data) => data.creditAccount },
  { kind: 'Worker', sequence: 'workerSequence', address: (data) => data.worker },
  { kind: 'Job', sequence: 'jobSequence', address: (data) => data.job },
];

/** Fields that events call otherwise than the account does. */
const renamed: Partial<Record<AccountName, Record<string, string>>> = {
  CreditAccount: { accountLockedCredits: 'lockedCredits' },
  Treasury: { treasuryUnpaidBaseUnits: 'unpaidBaseUnits' },
  Worker: { workerClaimableBaseUnits: 'claimableBaseUnits' },
  Job: { reason: 'failureReason', verdict: 'outcome' },
};

const plain = (value: unknown): unknown => {
  if (value instanceof PublicKey) return value.toBase58();
  return typeof value === 'number' ? BigInt(value) : value;
};

/** Every field that the event and one of its accounts both have, as `kind.field`. */
function compare(event: DecodedEvent, kind: AccountName, account: Values): string[] {
  const data = event.data as unknown as Values;
  const compared: string[] = [];
  for (const [field, value] of Object.entries(data)) {
    const name = renamed[kind]?.[field] ?? field;
    // In a job's event the account's locks have a name of their own.
    const isJobs = kind === 'CreditAccount' && field === 'lockedCredits' && 'jobSequence' in data;
    const isVerdictOnCharge = kind === 'Job' && name === 'outcome' && !('verdict' in data);
    if (!(name in account) || isJobs || isVerdictOnCharge) continue;
    // Text and lists have another form in accounts; client tests compare those.
    const isText = typeof value === 'string' && typeof account[name] !== 'string';
    if (isText || Array.isArray(value)) continue;
    expect([event.name, kind, field, plain(value)]).toEqual([
      event.name,
      kind,
      field,
      plain(account[name]),
    ]);
    compared.push(`${kind}.${name}`);
  }
  return compared;
}

describe('every instruction', () => {
  it('emits one event with the state of its accounts afterwards', async () => {
    const seen = new Set<string>();
    const compared = new Set<string>();
    await walkThrough(async ({ world: { chain }, name, instructions, signers }) => {
      await chain.send(instructions, signers);
      const events = chain.lastEvents();
      expect([name, events.length]).toEqual([name, 1]);
      const event = events[0] as DecodedEvent;
      seen.add(event.name);
      const clock = await chain.account(SYSVAR_CLOCK_PUBKEY);
      expect(event.data.slot).toBe(Buffer.from(clock?.data ?? []).readBigUInt64LE());
      expect(event.data.unixTime).toBe(await chain.now());
      for (const { kind, sequence, address } of spokenOf) {
        const data = event.data as unknown as Values;
        if (!(sequence in data) || event.name === 'JobClosed') continue;
        const found = await chain.account(address(data) as PublicKey);
        const account = decodeAccount(found?.data ?? new Uint8Array()).data as unknown as Values;
        expect([event.name, kind, plain(data[sequence])]).toEqual([
          event.name,
          kind,
          plain(account.sequence),
        ]);
        for (const field of compare(event, kind, account)) compared.add(field);
      }
    });
    const all = (IDL.events ?? []).map(({ name }) => name);
    expect([...seen].sort()).toEqual(all.sort());
    const due = [
      ...['CreditAccount.lockedCredits', 'CreditAccount.owedCredits', 'Treasury.unpaidBaseUnits'],
      ...['Worker.claimableBaseUnits', 'Job.chargedCredits', 'Job.outputHash', 'Job.outcome'],
    ];
    expect([...compared]).toEqual(expect.arrayContaining(due));
  });
});
