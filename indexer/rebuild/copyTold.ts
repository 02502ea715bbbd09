import { applyMissing } from '../mirror/applyMissing.ts';
import type { MirrorContext } from '../mirror/context.ts';
import { MIRROR_SCHEMA } from '../mirrorSchema.ts';

/** The most signatures that a node takes in one question. */
const PAGE = 256;

/**
 * Applies what the served mirror holds and the new one lacks, read from the ledger like everything
 * else: what is not final yet, and what a node may have left out of its lists.
 */
export async function copyTold(context: MirrorContext): Promise<void> {
  const { source } = context;
  for (let page = await selectLacking(context, undefined); page.length > 0; ) {
    const slots = await source.locate(
      page.map(({ signature }) => signature),
      page.at(-1)?.slot ?? 0n,
    );
    await applyMissing(
      context,
      [...slots].map(([signature, slot]) => ({ signature, slot, failed: false })),
    );
    page = await selectLacking(context, page.at(-1));
  }
}

async function selectLacking(
  { database }: MirrorContext,
  after: { signature: string; slot: bigint } | undefined,
): Promise<{ signature: string; slot: bigint }[]> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>(
    `
      select signature, slot from ${MIRROR_SCHEMA}.transactions served
      where (slot, signature) > ($1, $2)
        and not exists (select from transactions where signature = served.signature)
      order by slot, signature limit $3`,
    [after?.slot ?? 0n, after?.signature ?? '', PAGE],
  );
  return rows;
}
