import type { PublicKey as Key } from '@solana/web3.js';
import { PublicKey } from '#platform';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import {
  type Account,
  type Commitment,
  getAccountInfo,
  getMultipleAccounts,
  getProgramAccounts,
  getSignaturesForAddress,
  getTransaction,
} from '../../rpc/methods.ts';
import type { LedgerNode } from '../../rpc/rpc.ts';
import { createMessage, type MessageJson } from './message.ts';

interface TransactionJson {
  readonly slot: number;
  readonly version?: 'legacy' | number;
  readonly transaction: { readonly signatures: string[]; readonly message: MessageJson };
  readonly meta: {
    readonly loadedAddresses?: { readonly writable: string[]; readonly readonly: string[] };
  } | null;
}

const infoOf = (account: Account) => ({ ...account, owner: new PublicKey(account.owner) });

function transactionOf(found: TransactionJson) {
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

/** What web3.js's methods take: a commitment alone, or with more. */
type Config =
  | Commitment
  | { readonly commitment?: Commitment; readonly withContext?: boolean }
  | undefined;

/**
 * Reads a ledger without web3.js: as much of its Connection as `fetch…` and verification call.
 *
 * @param node `connectRpc({ url })` in most cases
 * @param standard the commitment of every question that names none
 */
export function connectLedger(
  node: LedgerNode,
  standard: Exclude<Commitment, 'processed'> = 'confirmed',
): LedgerConnection {
  const optionsOf = (config: Config) => ({
    commitment: standard as Commitment,
    ...(typeof config === 'string' ? { commitment: config } : config),
  });
  async function getAccountInfoAndContext(address: Key, config: Config) {
    const { slot, value } = await getAccountInfo(node, address.toBase58(), optionsOf(config));
    return { context: { slot }, value: value && infoOf(value) };
  }
  const connection = {
    getAccountInfoAndContext,

    async getAccountInfo(address: Key, config: Config) {
      return (await getAccountInfoAndContext(address, config)).value;
    },

    async getMultipleAccountsInfoAndContext(addresses: readonly Key[], config: Config) {
      const texts = addresses.map((address) => address.toBase58());
      const { slot, value } = await getMultipleAccounts(node, texts, optionsOf(config));
      return { context: { slot }, value: value.map((account) => account && infoOf(account)) };
    },

    async getProgramAccounts(programId: Key, config: Config) {
      const options = optionsOf(config);
      const { slot, value } = await getProgramAccounts(node, programId.toBase58(), options);
      const listed = value.map(({ address, account }) => ({
        pubkey: new PublicKey(address),
        account: infoOf(account),
      }));
      return options.withContext ? { context: { slot }, value: listed } : listed;
    },

    getSignaturesForAddress: (
      address: Key,
      options: object | undefined,
      commitment: Exclude<Commitment, 'processed'> = standard,
    ) => getSignaturesForAddress(node, address.toBase58(), { ...options, commitment }),

    async getTransaction(signature: string, config: Parameters<typeof getTransaction>[2]) {
      const found = await getTransaction(node, signature, { ...optionsOf(undefined), ...config });
      return found && transactionOf(found as TransactionJson);
    },
  };
  // It has what is read here, which is less than web3.js's types declare.
  return connection as unknown as LedgerConnection;
}
