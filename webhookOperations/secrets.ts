import type pg from 'pg';
import { withCheckedDatabase } from '../common/net/connectionChecks.ts';
import { type Database, inTransaction } from '../common/postgres.ts';
import { createSealing, type Sealing, SealingError } from '../common/sealing.ts';
import type { StartCheck } from '../common/startChecks.ts';
import { generateSecret } from '../webhooks/signature.ts';
import { IS_KEY, notFound, type WebhookKey } from './webhooks.ts';

/** Time for the receiver to learn the new secret. */
const OVERLAP_HOURS = 24;

/**
 * Gives a webhook a new secret. For a day, deliveries are signed with the one before it, too.
 *
 * @returns the new secret, which cannot be had again
 * @throws WebhookNotFoundError
 * @throws SealingError when the present secret was sealed under another key: the indexer could
 *   not read the new one
 */
export async function rotateSecret(
  pool: pg.Pool,
  sealing: Sealing,
  key: WebhookKey,
): Promise<string> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ secret: Buffer }>(
      `select secret from service.webhooks where ${IS_KEY} for no key update`,
      [key.id, key.wallet],
    );
    if (!rows[0]) throw notFound(key);
    sealing.open(rows[0].secret);
    const secret = generateSecret();
    await client.query(
      `update service.webhooks
       set secret = $3, previous_secret = secret,
           previous_secret_until = now() + $4 * interval '1 hour'
       where ${IS_KEY}`,
      [key.id, key.wallet, sealing.seal(secret), OVERLAP_HOURS],
    );
    return secret;
  });
}

/** A secret that no key opens stays as it is. */
interface ResealCounts {
  resealed: number;
  /** Those that were under the key that seals before. */
  present: number;
  /** Webhooks of which a secret is opened by no key, and `REQUESTS` where theirs is not. */
  unreadableIds: string[];
}

/** Whose secret it is that is no webhook's. */
const REQUESTS = 'the names of requests';

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

/** What `--check` tries of the keys: whether they open every secret that is stored. */
export function secretsCheck(config: {
  DATABASE_URL: string;
  SVC_SECRETS_KEY: Buffer;
  SVC_SECRETS_KEY_PREVIOUS?: Buffer | undefined;
}): StartCheck {
  const sealing = createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS);
  return {
    what: 'secrets',
    run: () =>
      withCheckedDatabase(config.DATABASE_URL, async (database) => {
        const { rowCount: tables } = await database.query(
          `select where to_regclass('service.request_secret') is not null`,
        );
        if (tables === 0) return 'none yet';
        const { rows } = await database.query<{ owner: string; secret: Buffer }>(
          `select $1 as owner, secret from service.request_secret
           union all
           select 'webhook ' || id, secret from service.webhooks
           union all
           select 'webhook ' || id, previous_secret from service.webhooks
           where previous_secret_until > now()`,
          [REQUESTS],
        );
        for (const { owner, secret } of rows) assertOpens(sealing, owner, secret);
        return `SVC_SECRETS_KEY opens ${rows.length}, all that are stored`;
      }),
  };
}

function assertOpens(sealing: Sealing, owner: string, secret: Buffer): void {
  try {
    sealing.open(secret);
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new Error(`SVC_SECRETS_KEY does not open the stored secret of ${owner}`);
  }
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
