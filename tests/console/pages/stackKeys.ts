import { Connection, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import type { DevelopmentAccounts, DevelopmentSigned } from '../../../api/contracts/session.ts';
import type { StackDescription } from '../../../stack/stackFile.ts';

/** What is to be signed by an address; its bytes in base64. */
export interface Asked {
  readonly address: string;
  readonly kind: 'message' | 'transaction';
  readonly bytes: string;
}

/** The accounts of the stack's development wallet, which signs for its pages. */
export interface StackKeys {
  /** As the ledger's wallets name it. */
  readonly chain: string;
  /** Of the account with this name. @throws Error when there is none */
  address(name: string): string;
  /** @returns the signature, or the signed transaction, in base64 */
  sign(asked: Asked): Promise<string>;
  /** Signs as the account with this name, which pays, and sends. */
  submit(name: string, instructions: readonly TransactionInstruction[]): Promise<void>;
}

export async function openStackKeys({ baseUrl, rpcUrl }: StackDescription): Promise<StackKeys> {
  const read = async <Body>(url: string, init: RequestInit = {}): Promise<Body> => {
    const headers = { 'content-type': 'application/json', origin: baseUrl };
    return (await (await fetch(url, { ...init, headers })).json()) as Body;
  };
  const { development_wallet_url: url, chain } = await read<{
    development_wallet_url: string;
    chain: string;
  }>(`${baseUrl}/console/api/config`);
  const { accounts } = await read<DevelopmentAccounts>(`${url}/accounts`);

  const address = (name: string): string => {
    const account = accounts.find((one) => one.name === name);
    if (account === undefined) throw new Error(`The stack has no account ${name}`);
    return account.address;
  };
  const sign = async (asked: Asked): Promise<string> => {
    const body = JSON.stringify(asked);
    return (await read<DevelopmentSigned>(`${url}/sign`, { method: 'POST', body })).signed;
  };
  return {
    chain,
    address,
    sign,
    async submit(name, instructions) {
      const ledger = new Connection(rpcUrl, 'confirmed');
      const feePayer = new PublicKey(address(name));
      const { blockhash, lastValidBlockHeight } = await ledger.getLatestBlockhash();
      const transaction = new Transaction({ feePayer, blockhash, lastValidBlockHeight });
      transaction.add(...instructions);
      const bytes = transaction.serialize({ verifySignatures: false }).toString('base64');
      const signed = await sign({ address: feePayer.toBase58(), kind: 'transaction', bytes });
      const signature = await ledger.sendEncodedTransaction(signed);
      await ledger.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
    },
  };
}
