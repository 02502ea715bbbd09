import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  disputeExpire,
  gatewayOpen,
  JOB_STATUSES,
  type JobStatus,
  jobClose,
  jobLock,
  verdictInstruction,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import {
  controllers,
  entitled,
  everybody,
  type MatrixName,
  type Person,
  table,
} from './support/jobRights.ts';
import {
  acknowledge,
  complete,
  dispute,
  fail,
  jobIn,
  prove,
  readJob,
  refund,
  settle,
} from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { setSpender, updateGateway } from './support/parties.ts';
import { passDisputeWindow } from './support/verdicts.ts';
import { addresses, createWorld, MODEL, send, type World } from './support/world.ts';

/** Than that of any job here. */
const LATER_ATTEMPT = 9;

describe.each(Object.entries(controllers))('a job controlled by %s', (controller, acting) => {
  const isStopped = controller === 'a gateway that was stopped since';
  const isReplaced = controller === 'a gateway whose signer was replaced since';
  let world: World;
  let people: Record<Person, Keypair>;
  let otherGateway: PublicKey;
  /** The signer that has the rights when jobs are made. */
  let maker: Keypair;

  beforeAll(async () => {
    world = await createWorld({ openDisputesMax: 255 });
    const { operator, wallet, hotSigner, stranger, workerAuthority, proofKey } = world;
    const { arbiter, authority } = world;
    people = {
      ...{ wallet, operator, gatewaySigner: hotSigner, stranger, workerAuthority, proofKey },
      ...{ arbiter, authority, spenderKey: await world.person() },
      otherWallet: (await addWallet(world)).keypair,
      revokedSigner: await world.person(),
      otherGatewaysSigner: await world.person(),
    };
    const other = (await world.person()).publicKey;
    otherGateway = addresses.gateway(other);
    const signers = [people.otherGatewaysSigner.publicKey];
    await send(world, gatewayOpen({ payer: other, operator: other, signers }));
    await updateGateway(world, { signers: [hotSigner.publicKey, people.revokedSigner.publicKey] });
    await updateGateway(world);
    if (acting === 'spenderKey') await setSpender(world, people.spenderKey.publicKey);
    maker = isReplaced ? hotSigner : people[acting];
  });

  /** A fresh job in this status, under this controller. */
  const freshJob = async (status: JobStatus): Promise<PublicKey> => {
    const isChanged = isStopped || isReplaced;
    if (isChanged) await updateGateway(world);
    const job = await jobIn({ ...world, hotSigner: maker }, status);
    // No verdict is given before.
    if (status === 'disputed') await passDisputeWindow(world);
    const signers = [people[acting].publicKey];
    if (isChanged) await updateGateway(world, { signers, stopped: isStopped });
    return job;
  };

  const compose = async (name: MatrixName, job: PublicKey, person: Person) => {
    const { creditAccount, worker, chain } = world;
    const signer = people[person].publicKey;
    const usesOther = person === 'otherGatewaysSigner' && !isReplaced;
    const actor = { signer, gateway: usesOther ? otherGateway : world.gateway };
    const { jobId } = await readJob(world, job);
    const named = { arbiter: signer, job, creditAccount, worker };
    const instructions: Record<MatrixName, () => TransactionInstruction> = {
      lock: () =>
        jobLock({
          ...{ payer: chain.payer.publicKey, ...actor, wallet: world.wallet.publicKey },
          ...{ modelId: MODEL.id, jobId, tokenLimit: 2_000, maxCredits: 8n },
        }),
      acknowledge: () => acknowledge(world, job, { ...actor, attempt: LATER_ATTEMPT }),
      prove: () => prove(world, job),
      settle: () => settle(world, job, actor),
      complete: () => complete(world, job, { ...actor, attempt: LATER_ATTEMPT }),
      fail: () => fail(world, job, actor),
      refund: () => refund(world, job),
      dispute: () => dispute(world, job, actor),
      resolve: () => verdictInstruction([], { ...named, verdict: 'rejected' }),
      expire: () => disputeExpire({ job, creditAccount }),
      close: () => jobClose({ job, rentPayer: chain.payer.publicKey }),
    };
    return instructions[name]();
  };

  /** The job's status afterwards, or why the instruction was refused. */
  const attempt = async (name: MatrixName, job: PublicKey, person: Person): Promise<string> => {
    try {
      await send(world, await compose(name, job, person));
    } catch (error) {
      return (error as Error).message;
    }
    if ((await world.chain.account(job)) === null) return 'closed';
    return (await readJob(world, job)).status;
  };

  /** Why somebody without the right is refused. */
  const refusalOf = (name: MatrixName, person: Person, status: JobStatus): string => {
    if (name !== 'lock') return 'Unauthorized';
    if (status === 'refunded') return 'JobIdTooOld';
    const givesGateway = person !== 'otherGatewaysSigner' || isReplaced;
    return givesGateway && acting !== 'spenderKey' ? 'Unauthorized' : 'SpenderNotSet';
  };

  it.each(JOB_STATUSES)(
    'leaves the state %s exactly as the table allows, for each signer [jobs.states]',
    async (status) => {
      const names = Object.keys(table) as MatrixName[];
      const job = await freshJob(status);
      for (const name of names) {
        const rightful = entitled(name, acting);
        const others = rightful === null ? [] : everybody.filter((key) => !rightful.includes(key));
        for (const person of others) {
          // A wallet that locks for itself leaves its gateway the right to lock, too.
          if (name === 'lock' && acting === 'wallet' && person === 'gatewaySigner') continue;
          const expected = refusalOf(name, person, status);
          expect([name, person, await attempt(name, job, person)]).toEqual([
            name,
            person,
            expected,
          ]);
        }
      }
      for (const name of names) {
        for (const person of entitled(name, acting) ?? ['stranger' as const]) {
          const outcome = await attempt(name, await freshJob(status), person);
          const begins =
            name === 'acknowledge' ||
            (name === 'complete' && status !== 'settling') ||
            (name === 'lock' && status !== 'refunded');
          const isRefused = begins && isStopped && person === acting;
          const expected = isRefused ? 'GatewayStopped' : table[name][status];
          expect([name, person, outcome]).toEqual([name, person, expected]);
        }
      }
      await expectConserved(world);
    },
  );
});
