/** A place in an answer where ledgers may differ, and why. */
export interface Difference {
  /** The call's name, and the place in its answer; `*` stands for any part of the path. */
  readonly place: string;
  readonly reason: string;
}

/** What differs between any two ledgers, since it is each one's own. */
export const VOLATILE = new Set([
  ...['slot', 'blockTime', 'apiVersion', 'blockhash', 'lastValidBlockHeight', 'absoluteSlot'],
  ...['blockHeight', 'slotIndex', 'transactionCount', 'epoch', 'signature', 'recentBlockhash'],
  ...['signatures', 'confirmations', 'confirmationStatus', 'contextSlot', 'costUnits', 'rentEpoch'],
]);

/** Compares two answers field by field. @returns the places where they differ, with both values */
export function compareAnswers(ours: unknown, theirs: unknown, place: string): string[] {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length)
      return [`${place}: ${ours.length} and ${theirs.length} items`];
    return ours.flatMap((item, index) => compareAnswers(item, theirs[index], `${place}.${index}`));
  }
  if (isFields(ours) && isFields(theirs)) {
    const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
    return names
      .filter((name) => !VOLATILE.has(name))
      .flatMap((name) => compareAnswers(ours[name], theirs[name], `${place}.${name}`));
  }
  if (Object.is(ours, theirs)) return [];
  return [`${place}: ${JSON.stringify(ours)} and ${JSON.stringify(theirs)}`];
}

/** Whether a difference is among those that are stated. */
export function isStated(found: string, stated: readonly Difference[]): Difference | undefined {
  return stated.find(({ place }) => {
    const pattern = place.split('*').map(literally).join('.*');
    return new RegExp(`^${pattern}`).test(found);
  });
}

/** As a pattern that means itself. */
function literally(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
