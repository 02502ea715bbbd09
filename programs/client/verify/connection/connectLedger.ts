import { base64 } from '@scure/base';
import type { PublicKey as Key } from '@solana/web3.js';
import { PublicKey } from '#publicKey';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { createMessage, type MessageJson } from './message.ts';

/** Calls one JSON-RPC method of a ledger's node. */
export type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** A node's refusal, with JSON-RPC's code. */
export class LedgerNodeError extends Error {
  override name = 'LedgerNodeError';
  readonly code: number;

  constructor({ code, message }: { code: number; message: string }) {
    super(message);
    this.code = code;
  }
}

/** A node that has not answered by then does not. */
const TIMEOUT_MS = 20_000;

/**
 * Calls a node by `fetch`, as Node and browsers have it.
 *
 * @param options.timeoutMs how long one answer may take
 * @param options.post in place of `fetch`
 * @throws LedgerNodeError when the node refuses; `TimeoutError` when it does not answer
 */
export function requestFrom(
  url: string,
  {
    timeoutMs = TIMEOUT_MS,
    post = fetch,
  }: { timeoutMs?: number; post?: (url: string, init: RequestInit) => Promise<Response> } = {},
): Request {
  let lastId = 0;
  return async (method, params) => {
    lastId += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params });
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await post(url, { method: 'POST', headers, body, signal });
    if (!response.ok) throw new Error(`The ledger's node answers with status ${response.status}`);
    const answer = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
    if (answer.error) throw new LedgerNodeError(answer.error);
    return answer.result;
  };
}

interface AccountJson {
  readonly data: readonly [string, string];
  readonly owner: string;
  readonly lamports: number;
  readonly executable: boolean;
}

interface WithContext<Value> {
  readonly context: { readonly slot: number };
  readonly value: Value;
}

interface ListedAccountJson {
  readonly pubkey: string;
  readonly account: AccountJson;
}

interface TransactionJson {
  readonly slot: number;
  readonly version?: 'legacy' | number;
  readonly transaction: { readonly signatures: string[]; readonly message: MessageJson };
  readonly meta: {
    readonly loadedAddresses?: { readonly writable: string[]; readonly readonly: string[] };
  } | null;
}

function readAccount({ data: [text], owner, lamports, executable }: AccountJson) {
  return { data: base64.decode(text), owner: new PublicKey(owner), lamports, executable };
}

const readOptional = (account: AccountJson | null) => (account ? readAccount(account) : null);

const readListed = ({ pubkey, account }: ListedAccountJson) => ({
  pubkey: new PublicKey(pubkey),
  account: readAccount(account),
});

function readTransaction(found: TransactionJson) {
  const { loadedAddresses } = found.meta ?? {};
  const keysOf = (texts: readonly string[]) => texts.map((text) => new PublicKey(text));
  const loaded = loadedAddresses && {
    writable: keysOf(loadedAddresses.writable),
    readonly: keysOf(loadedAddresses.readonly),
  };
  const message = createMessage(found.transaction.message, found.version ?? 'legacy');
  return {
    ...found,
    transaction: { ...found.transaction, message },
    meta: found.meta && { ...found.meta, loadedAddresses: loaded },
  };
}

type Config = string | Record<string, unknown> | undefined;

/** A commitment alone, or with more, as JSON-RPC takes it. */
function configOf(config: Config): Record<string, unknown> {
  return typeof config === 'string' ? { commitment: config } : { ...config };
}

/**
 * Reads a ledger without web3.js: as much of its Connection as verification calls.
 *
 * @param request how to call a node: `requestFrom(url)` in most cases
 */
export function connectLedger(request: Request): LedgerConnection {
  async function getAccountInfoAndContext(address: Key, config: Config) {
    const params = [address.toBase58(), { encoding: 'base64', ...configOf(config) }];
    const found = (await request('getAccountInfo', params)) as WithContext<AccountJson | null>;
    return { context: found.context, value: readOptional(found.value) };
  }
  const connection = {
    getAccountInfoAndContext,

    async getAccountInfo(address: Key, config: Config) {
      return (await getAccountInfoAndContext(address, config)).value;
    },

    async getMultipleAccountsInfoAndContext(addresses: readonly Key[], config: Config) {
      const texts = addresses.map((address) => address.toBase58());
      const params = [texts, { encoding: 'base64', ...configOf(config) }];
      const found = await request('getMultipleAccounts', params);
      const { context, value } = found as WithContext<(AccountJson | null)[]>;
      return { context, value: value.map(readOptional) };
    },

    async getProgramAccounts(programId: Key, config: Config) {
      const params = [programId.toBase58(), { encoding: 'base64', ...configOf(config) }];
      const found = (await request('getProgramAccounts', params)) as
        | ListedAccountJson[]
        | WithContext<ListedAccountJson[]>;
      if (Array.isArray(found)) return found.map(readListed);
      return { context: found.context, value: found.value.map(readListed) };
    },

    getSignaturesForAddress: (address: Key, options: object, commitment: string) =>
      request('getSignaturesForAddress', [address.toBase58(), { ...options, commitment }]),

    async getTransaction(signature: string, config: Config) {
      const params = [signature, { encoding: 'json', ...configOf(config) }];
      const found = (await request('getTransaction', params)) as TransactionJson | null;
      return found && readTransaction(found);
    },
  };
  // It has what verification reads, which is less than web3.js's types declare.
  return connection as unknown as LedgerConnection;
}
