import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { addresses } from '../../../testing/indexer/scene.ts';
import { callThrough } from '../../../testing/ledger/hostileCaller.ts';

const MEMO_PROGRAM_ID = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

const eventAuthority = { pubkey: addresses.eventAuthority, isSigner: false, isWritable: false };
const program = { pubkey: PROGRAM_ID, isSigner: false, isWritable: false };

/** What looks like an event and is none, of transactions that succeed. */
export function acceptedImitations(payer: PublicKey, event: Buffer): TransactionInstruction[][] {
  const mention = mentionBy(payer);
  // Called by another program it takes any data at all, and does nothing.
  const call = new TransactionInstruction({
    ...{ programId: ComputeBudgetProgram.programId, data: event },
    keys: [eventAuthority],
  });
  const mentioning = new TransactionInstruction({ ...call, keys: [eventAuthority, program] });
  const memo = new TransactionInstruction({
    ...{ programId: MEMO_PROGRAM_ID, keys: [], data: Buffer.from(event.toString('base64')) },
  });
  return [
    [mention],
    [callThrough(call), mention],
    [callThrough(mentioning)],
    [memo, mention],
    [callThrough(memo), mention],
  ];
}

/** What looks like an event, of transactions that fail. */
export function refusedImitations(payer: PublicKey, event: Buffer): TransactionInstruction[][] {
  const forged = new TransactionInstruction({
    ...{ programId: PROGRAM_ID, keys: [eventAuthority], data: event },
  });
  const garbage = new TransactionInstruction({
    ...{ programId: PROGRAM_ID, keys: [eventAuthority], data: Buffer.alloc(900, 0xff) },
  });
  const nothing = new TransactionInstruction({ ...garbage, data: Buffer.alloc(0) });
  const memo = new TransactionInstruction({
    ...{ programId: MEMO_PROGRAM_ID, keys: [], data: event },
  });
  return [
    [forged],
    [callThrough(forged)],
    [garbage],
    [callThrough(garbage)],
    [nothing],
    [memo, mentionBy(payer)],
  ];
}

/** A transfer, which lists its transaction among the program's. */
function mentionBy(payer: PublicKey): TransactionInstruction {
  const transfer = SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 1 });
  transfer.keys.push(program, eventAuthority);
  return transfer;
}
