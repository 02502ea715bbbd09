/** One small JSON-RPC client for whatever asks a ledger's node. */
export * from './accounts.ts';
export * from './cluster.ts';
export { connectRpc } from './connectRpc.ts';
export { NoAnswerError, RpcError } from './errors.ts';
export { createRpc, type Post, type Rpc } from './rpc.ts';
export type { AtSlot } from './shapes.ts';
export * from './transactions.ts';
