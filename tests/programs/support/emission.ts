import { expect } from '@jest/globals';
import {
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import {
  ACCOUNT_VERSION,
  type Accounts,
  decodeAccount,
  type EventName,
  type Events,
} from '../../../programs/client/index.ts';
import { addresses, send, type World } from './world.ts';

/** The accounts that events speak of, by the events' names of their addresses. */
const KINDS = {
  job: 'Job',
  creditAccount: 'CreditAccount',
  worker: 'Worker',
  treasury: 'Treasury',
  gateway: 'Gateway',
  model: 'Model',
  config: 'Config',
} as const;
type Place = keyof typeof KINDS;
const PLACES = Object.keys(KINDS) as Place[];

/** Fields that events call otherwise than the account does. */
const RENAMED: Partial<Record<Place, Record<string, string>>> = {
  creditAccount: { accountLockedCredits: 'lockedCredits' },
  treasury: { treasuryUnpaidBaseUnits: 'unpaidBaseUnits' },
  worker: { workerClaimableBaseUnits: 'claimableBaseUnits' },
  job: { reason: 'failureReason', verdict: 'outcome' },
};

type Values = Record<string, unknown>;
type State = Partial<Record<Place, { address: PublicKey; fields: Values }>>;

/** The accounts at these addresses, without those that do not exist. */
export async function readState(
  { chain }: Pick<World, 'chain'>,
  at: Partial<Record<Place, unknown>>,
): Promise<State> {
  const places = { ...at, treasury: addresses.treasury, config: addresses.config };
  const found = await Promise.all(
    PLACES.map(async (place) => {
      const address = places[place];
      const account = address instanceof PublicKey ? await chain.account(address) : null;
      if (account === null || account.owner.equals(SystemProgram.programId)) return [];
      return [[place, { address, fields: { ...decodeAccount(account.data).data } }]];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** What an event has to say of the accounts whose sequences it names. */
export function spokenFields(data: Values, state: State): Values {
  const spoken: Values = {};
  const named = PLACES.filter((place) => sequenceOf(place) in data && place in state);
  for (const place of named) {
    const { address, fields } = state[place] as { address: PublicKey; fields: Values };
    spoken[sequenceOf(place)] = fields.sequence;
    if (place in data) spoken[place] = address;
    for (const field of Object.keys(data)) {
      const name = RENAMED[place]?.[field] ?? field;
      if (name in fields) spoken[field] ??= fields[name];
    }
  }
  return spoken;
}

const sequenceOf = (place: Place): string =>
  `${place === 'creditAccount' ? 'credit' : place}Sequence`;

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Addresses as text and numbers as one type: equal values are spelled alike. */
export const spelled = (value: unknown): unknown => {
  if (value instanceof PublicKey) return value.toBase58();
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) return value.map(spelled);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, spelled(own)]));
};

/** The slot and time of the Clock, as an event has them. */
export async function clockOf({ chain }: Pick<World, 'chain'>) {
  const clock = await chain.account(SYSVAR_CLOCK_PUBKEY);
  return {
    slot: Buffer.from(clock?.data ?? []).readBigUInt64LE(),
    unixTime: await chain.now(),
  };
}

/** What a step changes of each account, and what its event says that no account holds. */
type Effect<Name extends EventName> = {
  [Each in Place]?: Partial<Accounts[(typeof KINDS)[Each]]>;
} & { said?: Partial<Events[Name]> };

/**
 * Sends instructions, which succeed, and holds the accounts and the one event to every field. An
 * account without changes is as it was. The sequence of every other one goes up.
 *
 * @param world also with the job or another account that the step is about
 */
export async function expectEffect<Name extends EventName>(
  world: World & { job?: PublicKey },
  instructions: TransactionInstruction | TransactionInstruction[],
  name: Name,
  { said = {}, ...changes }: Effect<Name>,
): Promise<void> {
  const before = await readState(world, world);
  await send(world, ...[instructions].flat());
  const after = await readState(world, world);
  for (const place of PLACES) {
    const [was, is, change] = [before[place]?.fields, after[place]?.fields, changes[place]];
    const moved = was && { ...was, sequence: BigInt(was.sequence as number) + 1n, ...change };
    if (change === undefined) expect([place, spelled(is)]).toEqual([place, spelled(was)]);
    else if (moved) expect([place, spelled(is)]).toEqual([place, spelled(moved)]);
    else {
      const created = { version: ACCOUNT_VERSION, sequence: 1, ...change };
      expect(spelled(is)).toMatchObject(spelled(created) as object);
    }
  }
  const events = world.chain.lastEvents().map(({ name, data }) => ({ name, data: spelled(data) }));
  const [{ data = {} } = {}] = world.chain.lastEvents();
  const fields = { ...(await clockOf(world)), ...spokenFields({ ...data }, after), ...said };
  expect(events).toEqual([{ name, data: spelled(fields) }]);
}

/** Sends an instruction, which succeeds, emits no event and changes no account. */
export async function expectNoEffect(
  world: World & { job?: PublicKey },
  instruction: TransactionInstruction,
): Promise<void> {
  const before = await readState(world, world);
  await send(world, instruction);
  expect(world.chain.lastEvents()).toEqual([]);
  expect(spelled(await readState(world, world))).toEqual(spelled(before));
}
