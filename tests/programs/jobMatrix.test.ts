import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  creditOpen,
  disputeExpire,
  gatewayOpen,
  gatewayUpdate,
  JOB_STATUSES,
  type JobStatus,
  jobClose,
  jobLock,
  spenderSet,
  verdictInstruction,
} from '../../programs/client/index.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
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
import { passDisputeWindow } from './support/verdicts.ts';
import { addresses, createWorld, MODEL, type World } from './support/world.ts';

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

  const setGateway = (signers: Keypair[], stopped: boolean) =>
    gatewayUpdate({
      operator: world.operator.publicKey,
      signers: signers.map(({ publicKey }) => publicKey),
      stopped,
    });

  beforeAll(async () => {
    world = await createWorld({ openDisputesMax: 255 });
    const { chain, operator, wallet, hotSigner } = world;
    people = {
      ...{ wallet, operator, gatewaySigner: hotSigner, stranger: world.stranger },
      ...{ workerAuthority: world.workerAuthority, proofKey: world.proofKey },
      ...{ arbiter: world.arbiter, authority: world.authority, spenderKey: await world.person() },
      ...{ otherWallet: await world.person(), revokedSigner: await world.person() },
      otherGatewaysSigner: await world.person(),
    };
    const { otherWallet, otherGatewaysSigner, revokedSigner } = people;
    const otherOperator = await world.person();
    otherGateway = addresses.gateway(otherOperator.publicKey);
    const by = { payer: otherOperator.publicKey, operator: otherOperator.publicKey };
    const open = creditOpen({ payer: otherWallet.publicKey, wallet: otherWallet.publicKey });
    await chain.send(
      [gatewayOpen({ ...by, signers: [otherGatewaysSigner.publicKey] }), open],
      [otherOperator, otherWallet],
    );
    await chain.send([setGateway([hotSigner, revokedSigner], false)], [operator]);
    await chain.send([setGateway([hotSigner], false)], [operator]);
    if (acting === 'spenderKey') {
      const spender = people.spenderKey.publicKey;
      await chain.send([spenderSet({ wallet: wallet.publicKey, spender, ...UNLIMITED })], [wallet]);
    }
    maker = isReplaced ? hotSigner : people[acting];
  });

  /** A fresh job in this status, under this controller. */
  const freshJob = async (status: JobStatus): Promise<PublicKey> => {
    const { chain, operator } = world;
    const isChanged = isStopped || isReplaced;
    if (isChanged) await chain.send([setGateway([world.hotSigner], false)], [operator]);
    const job = await jobIn({ ...world, hotSigner: maker }, status);
    // No verdict is given before.
    if (status === 'disputed') await passDisputeWindow(world);
    if (isChanged) await chain.send([setGateway([people[acting]], isStopped)], [operator]);
    return job;
  };

  const compose = async (
    name: MatrixName,
    job: PublicKey,
    person: Person,
  ): Promise<TransactionInstruction[]> => {
    const { creditAccount, worker, chain } = world;
    const signer = people[person].publicKey;
    const usesOther = person === 'otherGatewaysSigner' && !isReplaced;
    const actor = { signer, gateway: usesOther ? otherGateway : world.gateway };
    switch (name) {
      case 'lock':
        return [
          jobLock({
            ...{ payer: chain.payer.publicKey, ...actor, wallet: world.wallet.publicKey },
            ...{ modelId: MODEL.id, jobId: (await readJob(world, job)).jobId },
            ...{ tokenLimit: 2_000, maxCredits: 8n },
          }),
        ];
      case 'acknowledge':
        return [acknowledge(world, job, { ...actor, attempt: LATER_ATTEMPT })];
      case 'prove':
        return [prove(world, job)];
      case 'settle':
        return [settle(world, job, actor)];
      case 'complete':
        return [complete(world, job, { ...actor, attempt: LATER_ATTEMPT })];
      case 'fail':
        return [fail(world, job, actor)];
      case 'refund':
        return [refund(world, job)];
      case 'dispute':
        return [dispute(world, job, actor)];
      case 'resolve': {
        const named = { arbiter: signer, job, creditAccount, worker };
        return [verdictInstruction([], { ...named, verdict: 'rejected' })];
      }
      case 'expire':
        return [disputeExpire({ job, creditAccount })];
      case 'close':
        return [jobClose({ job, rentPayer: chain.payer.publicKey })];
    }
  };

  /** The job's status afterwards, or why the instruction was refused. */
  const attempt = async (name: MatrixName, job: PublicKey, person: Person): Promise<string> => {
    const instructions = await compose(name, job, person);
    const isSigned = instructions.some(({ keys }) => keys.some((key) => key.isSigner));
    try {
      await world.chain.send(instructions, isSigned ? [people[person]] : []);
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
