import type { Value } from '../../codec.ts';
import type { Events } from '../../events.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  JOB_TIMEOUT_SECONDS,
} from '../../generated/constants.ts';
import { areBytesEqual } from '../../platform/bytes.ts';
import { lockCredits } from '../../pricing.ts';
import { proofMessage, verifyHashed } from '../../proof.ts';
import { compare, fails, holds, notCheckable, show } from '../check.ts';
import { noCall } from './callRules.ts';
import { type AskedCall, callOf, workersInForce } from './evidence.ts';
import { eventsNamed, isOneEvent, type JobEvent, NO_PROOF } from './record.ts';
import { judgeBalances, NOT_SHOWN, rule } from './rule.ts';

/** The job is where only this wallet's job of this id can be, and all that follows is about the same. */
export const address = rule('lock.address', ['JobLocked'], ({ JobLocked }, record) => {
  const { addresses, job } = record;
  const { creditAccount, wallet, jobId, model, modelId } = JobLocked.data;
  const due: Readonly<Record<string, Value>> = { creditAccount, wallet, jobId };
  const others = record.events.filter(({ data }) =>
    Object.entries(data).some(
      ([field, value]) => field in due && show(value) !== show(due[field] ?? ''),
    ),
  );
  if (others.length > 0) {
    return fails(
      `Of another id, wallet or credit account: ${others.map(({ name }) => name).join(', ')}.`,
    );
  }
  return compare(
    {
      'the job': [job, addresses.job(creditAccount, jobId)],
      'the credit account': [creditAccount, addresses.creditAccount(wallet)],
      'the model': [model, addresses.model(modelId)],
    },
    `Job, credit account and model are where id, wallet ${wallet.toBase58()} and ${modelId} put them.`,
  );
});

/** The price was set by the published rule before any work was done. */
export const price = rule('lock.price', ['JobLocked'], ({ JobLocked }) => {
  const { modelId, tier, tokenLimit, lockedCredits } = JobLocked.data;
  const due = lockCredits(JobLocked.data, tokenLimit);
  const { creditsPerRequest, creditsPer1kTokens, longCompletionThresholdTokens } = JobLocked.data;
  return compare(
    { 'the lock': [lockedCredits, due] },
    `${modelId} (${tier}), at most ${tokenLimit} tokens: ${due} credits locked, from ` +
      `${creditsPerRequest} per request, ${creditsPer1kTokens} per 1,000 tokens beyond ` +
      `${longCompletionThresholdTokens}.`,
  );
});

/** Who locked the job signed its id, its token limit and its highest price. Its times are the program's. */
export const terms = rule('lock.terms', ['JobLocked'], ({ JobLocked }, { addresses }) => {
  const { data, transaction } = JobLocked;
  const { lockedCredits } = data;
  const call = callOf(JobLocked, ['job_lock'], addresses.programId);
  if (!call && transaction.message) return noCall(JobLocked, 'locks the job');
  const most = call?.values.maxCredits as bigint | undefined;
  if (most !== undefined && lockedCredits > most) {
    return fails(`${lockedCredits} credits were locked, and at most ${most} were signed.`);
  }
  const found = compare(
    {
      'the time for the work': [data.jobTimeoutSeconds, JOB_TIMEOUT_SECONDS],
      'the time for a dispute': [data.disputeWindowSeconds, DISPUTE_WINDOW_SECONDS],
      'the time for the arbiter': [data.arbitrationWindowSeconds, ARBITRATION_WINDOW_SECONDS],
      ...(call && askedIn(call, data)),
    },
    `Of at most ${most} credits that were signed, ${lockedCredits} were locked.`,
  );
  return call || found.verdict === 'fails' ? found : notCheckable(NOT_SHOWN);
});

/** What the signer of a lock, or its gateway, controls, and whose limits count it. */
function askedIn({ values, account }: AskedCall, data: Events['JobLocked']) {
  const [signer, gateway] = [account('signer'), account('gateway')];
  const isWallets = signer === data.wallet.toBase58();
  const isGateways = !isWallets && data.controller.toBase58() === gateway;
  return {
    'the id': [data.jobId, values.jobId as Value],
    'the token limit': [data.tokenLimit, values.tokenLimit as Value],
    'the rent payer': [data.rentPayer, account('payer')],
    'the controller': [data.controller, isGateways ? gateway : signer],
    'the day': [data.limitDay, isWallets ? 0 : data.spentDay],
  } as const;
}

/** The wallet's credits moved from available to locked, and its day's sum grew by them. */
export const balances = rule('lock.balances', ['JobLocked'], ({ JobLocked }, record) => {
  const { lockedCredits, limitDay } = JobLocked.data;
  return judgeBalances(record, JobLocked, {
    availableCredits: -lockedCredits,
    lockedCredits,
    limitDay,
  });
});

/**
 * Attempts grow, so that a late acknowledgement of an earlier worker changes nothing. Each says which
 * proof it put aside.
 */
export const attempts = rule('work.attempts', ['JobAcknowledged'], (_events, record) => {
  const given = eventsNamed(record, 'JobAcknowledged').map(({ data }) => data);
  const wrong = record.events.find((event, index) => !putsAside(event, record.events[index - 1]));
  if (wrong)
    return fails(`Change ${wrong.data.jobSequence} put another proof aside than was there.`);
  const isGrowing = given.every(({ attempt }, index) => attempt > (given[index - 1]?.attempt ?? 0));
  const named = given.map(({ attempt, worker }) => `${attempt}: ${worker.toBase58()}`).join(', ');
  return isGrowing ? holds(`Attempt ${named}.`) : fails(`The attempts do not grow: ${named}.`);
});

function putsAside(event: JobEvent, previous: JobEvent | undefined): boolean {
  const { name, data } = event;
  if (name !== 'JobAcknowledged' || previous?.data.jobSequence !== data.jobSequence - 1)
    return true;
  const proven = previous.name === 'JobProven' ? previous.data : undefined;
  return (
    data.voidedWorker.equals(proven?.worker ?? NO_PROOF.voidedWorker) &&
    data.voidedAttempt === (proven?.attempt ?? NO_PROOF.voidedAttempt) &&
    areBytesEqual(data.voidedOutputHash, proven?.outputHash ?? NO_PROOF.voidedOutputHash)
  );
}

/** The worker that was given the job last is the one that did it. */
export const assignment = rule(
  'work.assignment',
  ['JobAcknowledged', 'JobProven'],
  ({ JobProven }, record) => {
    const { worker, attempt, jobSequence } = JobProven.data;
    // A later one may have put the proof aside.
    const given = eventsNamed(record, 'JobAcknowledged').findLast(
      ({ data }) => data.jobSequence <= jobSequence,
    );
    // A JobCompleted may say both.
    const right = given && isOneEvent(given, JobProven) ? jobSequence : jobSequence - 1;
    if (given?.data.jobSequence !== right) {
      return notCheckable('The node does not show what came right before the proof.');
    }
    return compare(
      { 'the worker': [worker, given.data.worker], 'the attempt': [attempt, given.data.attempt] },
      `Proven by the worker of the last attempt, ${worker.toBase58()}.`,
    );
  },
);

/** The program verified the worker's signature, and so does this check, of exactly this proof. */
export const signature = rule('proof.signature', ['JobProven'], ({ JobProven }, record) => {
  const { programId } = record.addresses;
  const given = callOf(JobProven, ['job_prove', 'job_complete'], programId);
  if (given === undefined) return noCall(JobProven, 'brings the signature of this proof');
  const { proofKey: publicKey } = JobProven.data;
  const message = proofMessage({ ...JobProven.data, programId });
  return verifyHashed({ publicKey, message, signature: given.values.signature as Uint8Array })
    ? holds(`${publicKey} signed the sha256 of the proof's ${message.length} bytes.`)
    : fails(`The signature is not ${publicKey}'s of this proof.`);
});

/** The key is the one that the ledger recorded for the worker when it proved. */
export const key = rule('proof.key', ['JobProven'], ({ JobProven }, record) => {
  const { worker, proofKey } = JobProven.data;
  const at = JobProven.transaction;
  const recorded = workersInForce(record, { worker, at }).map(({ data }) => data.proofKey);
  if (recorded.length === 0) {
    return notCheckable('The node does not show how the worker registered.');
  }
  if (recorded.some((one) => one.equals(proofKey))) {
    return holds(`${proofKey} was the worker's proof key.`);
  }
  const { hasGaps, account } = record.worker;
  return hasGaps || account?.proofKey.equals(proofKey)
    ? notCheckable('The node does not show every change of the worker that may have set its key.')
    : fails(`The worker's proof key was ${recorded.join(' or ')}, not ${proofKey}.`);
});

/** What was proven is what was settled. */
export const hash = rule('proof.hash', ['JobProven', 'JobSettled'], ({ JobProven, JobSettled }) => {
  const proven = JobProven.data;
  const settled = JobSettled.data;
  return compare(
    {
      'the settled hash': [settled.outputHash, proven.outputHash],
      'the settled worker': [settled.worker, proven.worker],
      'the settled prompt count': [settled.promptTokens, proven.promptTokens],
      'the settled completion count': [settled.completionTokens, proven.completionTokens],
    },
    `sha256:${show(proven.outputHash)}`,
  );
});
