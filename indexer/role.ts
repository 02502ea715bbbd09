/** What an indexer process may be: a standby waits for the leader's connection to end. */
export const ROLES = ['starting', 'leader', 'standby'] as const;

export type Role = (typeof ROLES)[number];
