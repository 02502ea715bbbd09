import { describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { jobClose, jobComplete, jobLock } from '../../programs/client/instructions.ts';
import { createJobId } from '../../programs/client/jobId.ts';
import { COSTS } from '../../programs/client/sender/costs.ts';
import {
  computeBudget,
  createRoom,
  type Part,
  type SentVersion,
  signTransaction,
  TransactionTooLargeError,
  transactionConfig,
} from '../../programs/client/sender/transaction.ts';
import {
  compileMessage,
  encodeDraft,
  TRANSACTION_BYTES_MAX,
} from '../../programs/client/wire/index.ts';
import { createRandom } from '../../testing/random.ts';

const key = (): PublicKey => Keypair.generate().publicKey;
const [signer, gateway] = [key(), key()];
const HASH = new Uint8Array(32);

interface Parties {
  readonly creditAccount: PublicKey;
  readonly worker: PublicKey;
  readonly workerPayout: PublicKey;
}
const anyParties = (): Parties => ({ creditAccount: key(), worker: key(), workerPayout: key() });

function settlement(parties: Parties): Part {
  const complete = jobComplete({
    ...{ signer, gateway, job: key(), attempt: 1, ...parties },
    ...{ outputHash: HASH, promptTokens: 1, completionTokens: 2, countedTokens: 2 },
    ...{ statement: HASH, signature: new Uint8Array(64) },
  });
  return { instructions: [complete], costs: [COSTS.job_complete] };
}

function lock(wallet: PublicKey): Part {
  const creditAccount = createAddresses().creditAccount(wallet);
  const { bytes: jobId } = createJobId({ nowMs: Date.now(), creditAccount });
  const instruction = jobLock({
    ...{ payer: signer, signer, gateway, wallet, modelId: 'qwen3-8b' },
    ...{ jobId, tokenLimit: 500, maxCredits: 10n },
  });
  return { instructions: [instruction], costs: [COSTS.job_lock] };
}

const closing = (): Part => ({
  instructions: [jobClose({ job: key(), rentPayer: signer })],
  costs: [COSTS.job_close],
});

/** How many bytes the network carries of a transaction with these parts. */
function bytesOf(version: SentVersion, parts: readonly Part[], feePayer: PublicKey): number {
  const own = parts.flatMap(({ instructions }) => instructions);
  const limits = { computeUnits: 1, microLamports: 1, loadedBytes: 1 };
  const compiled = compileMessage({
    version,
    instructions: version === 1 ? own : [...own, ...computeBudget(limits)],
    feePayer,
    blockhash: HASH,
    config: version === 1 ? transactionConfig(limits) : {},
  });
  return encodeDraft(compiled).length;
}

const random = createRandom();

describe(`a transaction (seed ${random.seed})`, () => {
  it('has room for so many settlements, locks and closings', () => {
    const [parties, wallet] = [anyParties(), key()];
    const countOf = (version: SentVersion, compose: () => Part): number => {
      const room = createRoom(version, signer);
      let count = 0;
      while (room.take(compose())) count += 1;
      return count;
    };
    const settle = () => settlement(parties);
    const lockOne = () => lock(wallet);
    expect([countOf('legacy', settle), countOf('legacy', lockOne)]).toEqual([3, 10]);
    expect([countOf(1, settle), countOf(1, lockOne), countOf(1, closing)]).toEqual([16, 21, 32]);
  });

  it.each(['legacy', 1] as const)('of version %s is as large as its room says', (version) => {
    for (let round = 0; round < 50; round += 1) {
      const known = Array.from({ length: 3 }, anyParties);
      const feePayer = random.below(2) === 0 ? signer : key();
      const room = createRoom(version, feePayer);
      const parts: Part[] = [];
      for (;;) {
        const parties = known[random.below(known.length)] as Parties;
        const part = random.below(4) === 0 ? closing() : settlement(parties);
        const isTaken = room.take(part);
        const bytes = bytesOf(version, [...parts, part], feePayer);
        const fits = bytes <= TRANSACTION_BYTES_MAX[version];
        // Calls and units bound a transaction of version 1 before its bytes do.
        if (version === 'legacy') expect(isTaken).toBe(fits);
        else if (isTaken) expect(fits).toBe(true);
        if (!isTaken) break;
        parts.push(part);
      }
    }
  });

  it('has room for a part that brings so many keys only where it may', () => {
    const [parties, others] = [anyParties(), anyParties()];
    const room = createRoom('legacy', signer);
    expect(room.take(settlement(parties))).toBe(true);
    expect(room.take(settlement(others), 1)).toBe(false);
    expect(room.take(settlement(parties), 1)).toBe(true);
    expect(room.isFullFor(settlement(parties))).toBe(false);
    expect(room.take(settlement(parties), 1)).toBe(true);
    expect(room.isFullFor(settlement(parties))).toBe(true);
  });

  it('of more keys than version 1 has is refused before it is signed', async () => {
    const feePayer = Keypair.generate();
    const named = Array.from({ length: 63 }, () => ({
      ...{ pubkey: key(), isSigner: false, isWritable: false },
    }));
    const programId = key();
    const signing = (keys: typeof named) =>
      signTransaction({
        ...{ version: 1, feePayer, signers: [], lookup: undefined },
        blockhash: Keypair.generate().publicKey.toBase58(),
        instructions: [new TransactionInstruction({ programId, keys, data: Buffer.alloc(0) })],
      });
    await expect(signing(named.slice(1))).resolves.toMatchObject({});
    await expect(signing(named)).rejects.toBeInstanceOf(TransactionTooLargeError);
  });

  it('never asks for more units than a transaction may use', () => {
    const room = createRoom(1, signer);
    const heavy = { ...settlement(anyParties()), costs: [{ computeUnits: 800_000, calls: 1 }] };
    expect(room.take(heavy)).toBe(true);
    expect(room.take(heavy)).toBe(false);
  });
});
