import type { Method } from '../method.ts';
import { accountMethods } from './accounts.ts';
import { blockMethods } from './blocks.ts';
import { clusterMethods } from './cluster.ts';
import { developmentMethods } from './development.ts';
import { tokenMethods } from './tokens.ts';
import { transactionMethods } from './transactions.ts';

/** Everything that can be asked over HTTP, by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...accountMethods,
    ...tokenMethods,
    ...transactionMethods,
    ...blockMethods,
    ...clusterMethods,
    ...developmentMethods,
  }),
);
