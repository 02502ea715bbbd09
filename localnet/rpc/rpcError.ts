/** An error of JSON-RPC, which is told to whoever asked. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

// The numbers are those of clusters' nodes.

export const parseError = () => new RpcError(-32700, 'Parse error: the body is no JSON');
export const invalidRequest = (reason: string) =>
  new RpcError(-32600, `Invalid request: ${reason}`);
export const methodNotFound = (method: string) =>
  new RpcError(-32601, `Method not found: ${method}`);
export const invalidParams = (reason: string) => new RpcError(-32602, `Invalid params: ${reason}`);
export const internalError = (message: string) => new RpcError(-32603, message);
export const tooManySubscriptions = () =>
  internalError('Internal Error: Subscription refused. Node subscription limit reached');
export const preflightFailed = (message: string, data: object) =>
  new RpcError(-32002, `Transaction simulation failed: ${message}`, data);
export const signatureFailed = () =>
  new RpcError(-32003, 'Transaction signature verification failure');
export const nodeUnhealthy = (reason: string) => new RpcError(-32005, reason);
export const slotSkipped = (slot: number) =>
  new RpcError(
    -32007,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );
export const blockNotAvailable = (slot: number) =>
  new RpcError(-32004, `Block not available for slot ${slot}`);
export const versionUnsupported = (version: number) =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the ` +
      'request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`,
  );
export const minContextSlotNotReached = (contextSlot: number) =>
  new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });
