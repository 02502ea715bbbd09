import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { type Sealing, SealingError } from '../../common/sealing.ts';
import { REQUESTS } from '../../webhookOperations/secrets.ts';

/** A secret that no key opens stays as it is. */
interface ResealCounts {
  resealed: number;
  /** Those that were under the key that seals before. */
  present: number;
  /** Webhooks of which a secret is opened by no key, and `REQUESTS` where theirs is not. */
  unreadableIds: string[];
}

/**
 * Puts every secret of webhooks, and that of requests, under the key that seals. Forgets old ones that
 * sign nothing any more. One by one, so that it may be stopped at any time and run again.
 */
export async function resealSecrets(
  pool: pg.Pool,
  sealing: Pick<Sealing, 'reseal'>,
): Promise<ResealCounts> {
  const count: ResealCounts = { resealed: 0, present: 0, unreadableIds: [] };
  const resealAfter = (id: string) =>
    inTransaction(pool, (client) => resealNext(client, sealing, id));
  const add = (id: string, statuses: ResealResult['status'][]): void => {
    count.resealed += statuses.filter((status) => status === 'resealed').length;
    count.present += statuses.filter((status) => status === 'present').length;
    if (statuses.includes('unreadable')) count.unreadableIds.push(id);
  };
  add(REQUESTS, await inTransaction(pool, (client) => resealRequests(client, sealing)));
  let webhook = await resealAfter('');
  while (webhook) {
    add(webhook.id, webhook.statuses);
    webhook = await resealAfter(webhook.id);
  }
  return count;
}

/** @returns nothing while no API has made the secret */
async function resealRequests(
  client: Database,
  sealing: Pick<Sealing, 'reseal'>,
): Promise<ResealResult['status'][]> {
  const { rows } = await client.query<{ secret: Buffer }>(
    'select secret from service.request_secret for no key update',
  );
  if (!rows[0]) return [];
  const { status, sealed } = reseal(sealing, rows[0].secret);
  if (status === 'resealed') {
    await client.query('update service.request_secret set secret = $1', [sealed]);
  }
  return [status];
}

interface ResealResult {
  status: 'resealed' | 'present' | 'unreadable';
  sealed: Buffer;
}

/**
 * Locks the webhook before it reads the secrets: a rotation waits, or has happened.
 *
 * @returns the webhook whose id follows; undefined after the last
 */
async function resealNext(
  client: Database,
  sealing: Pick<Sealing, 'reseal'>,
  afterId: string,
): Promise<{ id: string; statuses: ResealResult['status'][] } | undefined> {
  const { rows } = await client.query<{
    id: string;
    secret: Buffer;
    previous_secret: Buffer | null;
    is_over: boolean | null;
  }>(
    `select id, secret, previous_secret, previous_secret_until <= now() as is_over
     from service.webhooks where id > $1 order by id limit 1 for no key update`,
    [afterId],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { id, secret, previous_secret, is_over } = row;
  const current = reseal(sealing, secret);
  const previous = previous_secret && !is_over ? reseal(sealing, previous_secret) : undefined;
  const statuses = previous ? [current.status, previous.status] : [current.status];
  if (is_over || statuses.includes('resealed')) {
    await client.query(
      `update service.webhooks
       set secret = $2, previous_secret = $3,
           previous_secret_until = case when $3::bytea is not null then previous_secret_until end
       where id = $1`,
      [id, current.sealed, previous?.sealed],
    );
  }
  return { id, statuses };
}

function reseal(sealing: Pick<Sealing, 'reseal'>, sealed: Buffer): ResealResult {
  try {
    const resealed = sealing.reseal(sealed);
    return resealed ? { status: 'resealed', sealed: resealed } : { status: 'present', sealed };
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    return { status: 'unreadable', sealed };
  }
}
