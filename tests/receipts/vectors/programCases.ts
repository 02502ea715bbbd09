import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { HOSTILE_PROGRAM_ID } from '../../../testing/ledger/hostileCaller.ts';
import { createJobScene } from '../../../testing/ledger/jobScene.ts';
import { type Condition, conditionCases, honest, lies, row } from './conditions/condition.ts';
import type { NodeCases } from './endedCases.ts';
import { flipByte } from './fields.ts';
import { type Change, inJson, inMeta } from './nodeChanges.ts';
import { runProgramJobs } from './programScene.ts';
import { recordJobs } from './record.ts';

const NODE = 'program';

/** Jobs whose parties are a program's address, as a multisig's vault is: its program signs. */
export async function programCases(): Promise<NodeCases> {
  const scene = await createJobScene();
  try {
    const jobs = await runProgramJobs(scene);
    const node = await recordJobs(scene, Object.values(jobs));
    return { name: NODE, node, cases: await conditionCases(NODE, node, conditions(jobs)) };
  } finally {
    await scene.ledger.close();
  }
}

type Jobs = Awaited<ReturnType<typeof runProgramJobs>>;

const conditions = (jobs: Jobs): Condition[] => [
  honest('a controller that is a program’s address', jobs.settled),
  ...lies(jobs.settled, {
    'the program that signed for the controller': [
      byAnother(jobs.settled),
      'fails history.signatures settlement.signer',
    ],
  }),
  honest('completed by a program, with another job in one call', jobs.first),
  honest('completed by a program, behind another job in one call', jobs.second),
  ...inOneCall(jobs),
  honest('refunded with a job of another wallet', jobs.refunded),
  honest('refunded with a job of a program’s address', jobs.another),
  row(
    'a repeated proof, whose signature is never looked at',
    jobs.repeated,
    undefined,
    'holds proof.signature',
  ),
  {
    ...row('a rent that its payer spent', jobs.swept, undefined, 'not_checkable account.closed'),
    isAll: true,
  },
];

/** Says that another program made the calls, which cannot sign for that address. */
const byAnother = (job: PublicKey): Change =>
  inJson(job, 'JobSettled', ({ transaction: { message } }) => {
    message.accountKeys = message.accountKeys.map((key) =>
      key === HOSTILE_PROGRAM_ID.toBase58() ? PROGRAM_ID.toBase58() : key,
    );
  });

/** Of `job_complete`: its discriminator, and its arguments. */
const COMPLETE_BYTES = 8 + 1 + 32 + 3 * 4 + 32 + 64;
const [COUNTED_AT, SIGNATURE_AT] = [8 + 1 + 32 + 2 * 4, COMPLETE_BYTES - 64];

/** A job is judged by the call of its own, of several in one. */
const inOneCall = ({ first, second }: Jobs): Condition[] =>
  [first, second].flatMap((job, at) => {
    const lie = (of: number, byte: number) =>
      inMeta(job, 'JobCompleted', ({ innerInstructions: [inner] }) => {
        const calls = inner?.instructions.filter(
          ({ data }) => base58.decode(data).length === COMPLETE_BYTES,
        );
        const call = calls?.[of];
        if (!call) throw new Error('there is no such call');
        flipByte(call, byte);
      });
    const which = at === 0 ? 'first' : 'second';
    // One job shows it of the count: it stands in the same call.
    const counts: Parameters<typeof lies>[1] = {
      'another count in its own call': [lie(at, COUNTED_AT), 'fails settlement.signer'],
      'another count in the call beside it': [lie(1 - at, COUNTED_AT), 'holds settlement.signer'],
    };
    return lies(job, {
      ...(at === 0 && counts),
      [`another proof in its own call, the ${which}`]: [
        lie(at, SIGNATURE_AT),
        'fails proof.signature',
      ],
      [`another proof in the call beside the ${which}`]: [
        lie(1 - at, SIGNATURE_AT),
        'holds proof.signature',
      ],
    });
  });
