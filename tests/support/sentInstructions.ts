import {
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { RpcRequest } from '../client/interceptedConnection.ts';

/** The instructions of a transaction on its way to the node; none of any other request. */
export function sentInstructions({ method, params }: RpcRequest): TransactionInstruction[] {
  if (method !== 'sendTransaction') return [];
  const { message } = VersionedTransaction.deserialize(Buffer.from(String(params[0]), 'base64'));
  return TransactionMessage.decompile(message).instructions;
}
