import { describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { IDL, PROGRAM_ID } from '../../programs/client/index.ts';
import { isUnreachable, namesIn } from './support/errorCoverage.ts';
import { returnableErrors, structuralErrors } from './support/returnableErrors.ts';
import { rolesOf, withData, withKeys } from './support/tampering.ts';
import { type Step, walkThrough } from './support/walkthrough.ts';
import { addresses, createBareWorld, initializeInstruction } from './support/world.ts';

/** Accounts of the program's own kinds, by the names they have in instructions. */
const OWN_KINDS = new Set(
  'config treasury gateway credit_account model worker job claimant'.split(' '),
);
/** These are created by the instruction, so what matters about them is their address. */
const CREATED: Record<string, string[]> = {
  config_initialize: ['config', 'treasury'],
  gateway_open: ['gateway'],
  credit_open: ['credit_account'],
  worker_register: ['worker'],
  job_lock: ['job'],
};
/** Only named by its address: the model may be gone from the catalog. */
const NOT_READ: Record<string, string[]> = { worker_unhost: ['model'] };
/** Known by its address, because the claimant may be the same account. */
const BY_ADDRESS: Record<string, string[]> = { claim_pay: ['treasury'] };

interface Tampered {
  instruction: TransactionInstruction;
  refusal: string | RegExp;
  title: string;
}

/** Every way of handing the instruction a wrong set of accounts that needs no special knowledge. */
function tamper({ world, name, instructions }: Step): Tampered[] {
  const valid = instructions.at(-1) as TransactionInstruction;
  const roles = rolesOf(name);
  const cases: Tampered[] = [
    {
      title: 'an account fewer',
      instruction: withKeys(valid, (keys) => keys.slice(0, -1)),
      refusal: 'MissingAccount',
    },
    {
      title: 'a byte more of data',
      instruction: withData(valid, Buffer.concat([valid.data, Buffer.alloc(1)])),
      refusal: 'InvalidInstructionData',
    },
    {
      title: 'an empty instruction',
      instruction: withData(valid, new Uint8Array()),
      refusal: 'InvalidInstructionData',
    },
  ];
  if (valid.data.length > 8) {
    const data = valid.data.subarray(0, -1);
    cases.push({
      title: 'a byte less of data',
      instruction: withData(valid, data),
      refusal: 'InvalidInstructionData',
    });
  }
  for (const [index, role] of roles.entries()) {
    const flip = (change: object): TransactionInstruction =>
      withKeys(valid, (keys) =>
        keys.map((key, position) => (position === index ? { ...key, ...change } : key)),
      );
    const key = valid.keys[index]?.pubkey as PublicKey;
    const isNamedTwice = valid.keys.filter(({ pubkey }) => pubkey.equals(key)).length > 1;
    const isPayer = key.equals(world.chain.payer.publicKey);
    if (role.signer && !isPayer && !isNamedTwice) {
      cases.push({
        title: `${role.name} that does not sign`,
        instruction: flip({ isSigner: false }),
        refusal: 'MissingSigner',
      });
    }
    if (role.writable && !isPayer && !isNamedTwice) {
      cases.push({
        title: `${role.name} read-only`,
        instruction: flip({ isWritable: false }),
        refusal: 'NotWritable',
      });
    }
    const other = world.stranger.publicKey;
    if (role.name === 'token_program') {
      cases.push({
        title: 'another token program',
        instruction: flip({ pubkey: new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb') }),
        refusal: 'WrongTokenProgram',
      });
    } else if (
      role.address !== undefined ||
      ['event_authority', 'vault_authority', 'vault', 'treasury_vault', 'stake_vault'].includes(
        role.name,
      ) ||
      CREATED[name]?.includes(role.name) ||
      BY_ADDRESS[name]?.includes(role.name)
    ) {
      cases.push({
        title: `another account as ${role.name}`,
        instruction: flip({ pubkey: other }),
        refusal: /WrongAddress|NonCanonicalBump/,
      });
    } else if (OWN_KINDS.has(role.name) && !NOT_READ[name]?.includes(role.name)) {
      if (role.optional) continue;
      cases.push({
        title: `somebody else's account as ${role.name}`,
        instruction: flip({ pubkey: world.creditMint }),
        // A model that does not exist would be created, at its own address only.
        refusal:
          name === 'model_upsert' && role.name === 'model' ? 'WrongAddress' : 'WrongAccountOwner',
      });
      const isWorker = role.name === 'worker' || role.name === 'claimant';
      cases.push({
        title: `another kind of account as ${role.name}`,
        instruction: flip({ pubkey: isWorker ? world.gateway : world.worker }),
        refusal: 'WrongDiscriminator',
      });
    }
  }
  return cases;
}

const sign = (step: Step, instruction: TransactionInstruction): Keypair[] =>
  step.signers.filter((signer) =>
    [...step.instructions.slice(0, -1), instruction].some(({ keys }) =>
      keys.some((key) => key.isSigner && key.pubkey.equals(signer.publicKey)),
    ),
  );

describe('every instruction', () => {
  it('refuses wrong accounts and data by name, and accepts the right ones', async () => {
    const taken: string[] = [];
    const unexpected: string[] = [];
    const met = new Map<string, Set<string>>();
    await walkThrough(async (step) => {
      const { world, name, instructions, signers } = step;
      for (const { instruction, refusal, title } of tamper(step)) {
        const sent = [...instructions.slice(0, -1), instruction];
        const outcome = await world.chain.send(sent, sign(step, instruction)).then(
          () => 'success',
          (error: Error) => error.message,
        );
        const isExpected =
          typeof refusal === 'string' ? outcome === refusal : refusal.test(outcome);
        met.set(name, (met.get(name) ?? new Set()).add(outcome));
        if (!isExpected) unexpected.push(`${name}: ${title}: ${outcome}, not ${refusal}`);
      }
      await world.chain.send(instructions, signers);
      taken.push(name);
    });
    expect(unexpected).toEqual([]);
    expect([...new Set(taken)].sort()).toEqual(IDL.instructions.map(({ name }) => name).sort());
    const missed = [...returnableErrors()].flatMap(([name, errors]) =>
      structuralErrors(errors)
        .filter((error) => !met.get(name)?.has(error) && !namesIn(name).has(error))
        .filter((error) => !isUnreachable(name, error))
        .map((error) => `${name}: ${error}`),
    );
    expect(missed).toEqual([]);
  });
});

describe('the program', () => {
  it('refuses an unknown instruction', async () => {
    const world = await createBareWorld();
    const valid = initializeInstruction(world);
    const unknown = withData(valid, Buffer.alloc(8, 7));
    await expect(world.chain.send([unknown], [world.authority])).rejects.toThrow(
      'UnknownInstruction',
    );
  });

  it('accepts events only from itself', async () => {
    const { chain, stranger } = await createBareWorld();
    const tag = Buffer.from('e445a52e51cb9a1d', 'hex');
    const forge = (pubkey: PublicKey, isSigner: boolean): TransactionInstruction =>
      new TransactionInstruction({
        programId: PROGRAM_ID,
        keys: [{ pubkey, isSigner, isWritable: false }],
        data: Buffer.concat([tag, Buffer.alloc(64)]),
      });
    await expect(chain.send([forge(stranger.publicKey, true)], [stranger])).rejects.toThrow(
      'EventAuthorityRequired',
    );
    await expect(chain.send([forge(addresses.eventAuthority, false)])).rejects.toThrow(
      'EventAuthorityRequired',
    );
  });
});
