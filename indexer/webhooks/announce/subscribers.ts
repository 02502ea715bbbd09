import type { Database } from '../../../common/postgres.ts';
import type { Occurrence } from './occurrence.ts';

/** A webhook that is told of some of what occurred. */
export interface Subscriber {
  readonly id: string;
  readonly wallet: string;
  readonly events: readonly string[];
  readonly api_version: string;
  /** An event for a webhook that is not active is kept for its owner, and not sent. */
  readonly status: 'active' | 'failed' | 'disabled';
}

/**
 * The webhooks that one of the occurrences is for. They stay until the transaction ends. One that
 * is being deleted is left out, since the mirror would wait with it for everybody: nothing but a
 * deletion locks a webhook's row against this.
 */
export async function selectSubscribers(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const owned = occurrences.filter(({ wallet }) => wallet !== null);
  const open = occurrences.filter(({ wallet }) => wallet === null);
  const found = [
    ...(await selectOwned(database, owned)),
    ...(open.length > 0 ? await selectAll(database, open) : []),
  ];
  return [...new Map(found.map((subscriber) => [subscriber.id, subscriber])).values()];
}

export function isFor({ kind, wallet }: Occurrence, subscriber: Subscriber): boolean {
  return subscriber.events.includes(kind) && (wallet === null || wallet === subscriber.wallet);
}

const columns = 'id, wallet, events, api_version, status';

async function selectOwned(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>({
    name: 'select_owned_subscribers',
    text: `
      select ${columns} from service.webhooks
      where wallet = any($1) and events && $2
      order by created_at, id for key share skip locked`,
    values: [occurrences.map(({ wallet }) => wallet), occurrences.map(({ kind }) => kind)],
  });
  return rows;
}

/** Looks at all webhooks there are, which is well for what seldom happens. */
async function selectAll(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>(
    `select ${columns} from service.webhooks where events && $1
     order by created_at, id for key share skip locked`,
    [occurrences.map(({ kind }) => kind)],
  );
  return rows;
}
