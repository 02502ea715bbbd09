import { sha256 } from '#platform';
import type { Value } from '../../codec.ts';
import type { Events } from '../../events.ts';
import { formatJobId } from '../../jobId.ts';
import { utf8 } from '../../platform/bytes.ts';
import { freeTokenLimit } from '../../pricing.ts';
import { parseReceipt, receiptMessage, requestCommitment, verifyHashed } from '../../proof.ts';
import { shown } from '../answer/answerParts.ts';
import { differenceOf } from '../answer/nearTexts.ts';
import type { SentChat, SentRequest } from '../answer/sentRequest.ts';
import type { Statement } from '../answer/statement.ts';
import {
  compare,
  type Finding,
  fails,
  holds,
  notApplicable,
  notCheckable,
  show,
} from '../check.ts';
import type { ClientEvidence } from './clientEvidence.ts';
import { deadlineOf } from './endingRules.ts';
import type { ModelEvidence } from './evidence.ts';
import { eventsNamed, statusOf } from './record.ts';
import { type Rule, rule } from './rule.ts';

/**
 * The text that the client holds is the one that the worker proved. An answer without text is compared
 * where the job was charged.
 */
export const output: Rule = (record) => {
  const { output: text, answer: stated } = record;
  const isEmpty = text?.length === 0 && stated !== undefined && stated.output_hash === undefined;
  const isUncharged = isEmpty && eventsNamed(record, 'JobSettled').length === 0;
  return judgeText(isUncharged ? { ...record, output: undefined } : record);
};

const judgeText = whenGiven(
  'output',
  rule('delivery.output', ['JobProven'], ({ JobProven }, { output: text = new Uint8Array() }) => {
    const { outputHash } = JobProven.data;
    const isProven = (bytes: Uint8Array) => show(sha256(bytes)) === show(outputHash);
    if (isProven(text)) return holds(`The ${text.length} bytes of text have the proven sha256.`);
    const difference = differenceOf([asText(text)], ([near = '']) => isProven(utf8(near)));
    return difference === undefined
      ? compare({ "the text's sha256": [sha256(text), outputHash] }, '')
      : fails(`The text differs from the proven one only in this: ${difference}.`);
  }),
);

/** As UTF-8, with a mark before it; other bytes would make it another text anyway. */
const asText = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/**
 * The key that settled signed that it delivered what the worker proved. A signature for another text,
 * the client's, convicts the key that settled.
 */
export const receipt = whenGiven(
  'receipt',
  rule('delivery.receipt', ['JobSettled'], ({ JobSettled }, record) => {
    const parts = parseReceipt(record.receipt ?? '');
    if (!parts) return fails('It is not spelled as a delivery receipt.');
    const { settledBy, outputHash, job } = JobSettled.data;
    const { programId } = record.addresses;
    const signer = parts.signer.toBase58();
    const isFor = (hash: Uint8Array) =>
      verifyHashed({
        publicKey: parts.signer,
        message: receiptMessage({ programId, job, outputHash: hash }),
        signature: parts.signature,
      });
    // Anybody can sign anything with a key of his own.
    if (!parts.signer.equals(settledBy)) {
      return fails(`It is signed by ${signer}, who did not settle this job: it is no evidence.`);
    }
    if (isFor(outputHash)) {
      return holds(`${signer}, who settled, signed that the proven text was delivered.`);
    }
    return record.output && isFor(sha256(record.output))
      ? fails(`${signer} signed that the given text was delivered, and not the proven one.`)
      : fails(`${signer} did not sign that the proven text was delivered for this job.`);
  }),
);

/** What the client asked is what the worker says that it was asked. */
export const request = whenGiven(
  'request',
  rule(
    'delivery.request',
    ['JobLocked', 'JobProven'],
    ({ JobLocked, JobProven }, { request: asked, salt, model }) => {
      if (asked === undefined || salt === undefined) {
        return notCheckable("It is compared by its salt, which is the answer's svc.request_salt.");
      }
      const { chat: sent } = asked;
      const { modelId, tokenLimit } = JobLocked.data;
      const { requestCommitment: proven } = JobProven.data;
      const commitmentTo = (chat: SentChat) =>
        requestCommitment(salt, { ...chat, token_limit: tokenLimit });
      const isProven = (chat: SentChat) => {
        try {
          return show(commitmentTo(chat)) === show(proven);
        } catch {
          // A field that is not known may have no canonical form.
          return false;
        }
      };
      if (isProven(sent) || countedIn(asked).some(isProven)) {
        const wrong = judgeLimit(asked, JobLocked.data, model?.account);
        return (
          wrong ??
          holds(`Salt and request, with at most ${tokenLimit} tokens, give the proven commitment.`)
        );
      }
      if (sent.model !== modelId) {
        return fails(
          `The request names the model ${shown(sent.model)}, and the job is for ${modelId}.`,
        );
      }
      const contents = sent.messages.map(({ content }) => content);
      const difference = differenceOf(contents, (near) =>
        isProven({
          ...sent,
          messages: sent.messages.map((one, at) => ({ ...one, content: near[at] ?? '' })),
        }),
      );
      if (difference !== undefined) {
        return fails(`The messages differ from the proven ones only in this: ${difference}.`);
      }
      const unknown = shown([...new Set(asked.unknown)].join(', '));
      return unknown === ''
        ? compare({ 'the commitment to the request': [commitmentTo(sent), proven] }, '')
        : notCheckable(`Whether the worker was given this is not known here: ${unknown}.`);
    },
  ),
);

/** The request with each field that is not known here, and with all, as a later service may give it. */
function countedIn({ chat, others }: SentRequest): SentChat[] {
  const each = Object.entries(others).map(([field, value]) => ({ [field]: value }));
  return [...each, others].map((more) => ({ ...chat, ...more }));
}

/**
 * The lock is within the request's ceiling, and has the token limit that the request names, or else the
 * default one. It has less only where the model's context window leaves no more.
 *
 * @returns undefined where it has
 */
function judgeLimit(
  { chat, tokensMax, creditsMax = Number.POSITIVE_INFINITY }: SentRequest,
  lock: Events['JobLocked'],
  model: ModelEvidence['account'] | undefined,
): Finding | undefined {
  const { tokenLimit, lockedCredits } = lock;
  if (lockedCredits > creditsMax) {
    return fails(
      `The request may lock ${creditsMax} credits, and the job locked ${lockedCredits}.`,
    );
  }
  const wanted = tokensMax ?? freeTokenLimit(lock);
  if (tokenLimit === wanted) return undefined;
  const differs = `The request is for at most ${wanted} tokens, and the job for ${tokenLimit}`;
  if (tokenLimit > wanted) return fails(`${differs}.`);
  if (!model) return notCheckable(`${differs}. The node does not show the context window.`);
  // No text has more tokens than bytes.
  const bytes = chat.messages.reduce((sum, { content }) => sum + utf8(content).length, 0);
  const window = model.contextWindowTokens;
  const isCut = bytes + wanted > window && tokenLimit >= window - bytes;
  return isCut ? undefined : fails(`${differs}, though the context window leaves more.`);
}

/** An answer is cut off when its job has 15 s left. The ledger's Clock may be some seconds behind. */
const CUT_SECONDS_MAX = 30n;
const CUT = 'deadline';

/** What no answer of a charged job leaves out. */
const CHARGED: readonly string[] = ['worker', 'attempt', 'output_hash', 'credits_charged'];

/** What the answer says of its own job is what the ledger records. */
export const answer = whenGiven(
  'answer',
  rule('delivery.answer', ['JobLocked'], ({ JobLocked }, record): Finding => {
    const stated = record.answer ?? {};
    const proven = eventsNamed(record, 'JobProven').at(-1);
    const settled = eventsNamed(record, 'JobSettled').at(-1);
    const isCharged = (stated.credits_charged ?? 0) > 0;
    const isFree = ['failed', 'refunded'].includes(statusOf(record.events));
    if (isCharged && !isFree && !(proven && settled)) {
      return notCheckable('The node does not show the settlement yet.');
    }
    const charge = settled?.data.chargedCredits ?? 0n;
    const leftSeconds =
      proven && deadlineOf(JobLocked, 'jobTimeoutSeconds', JobLocked) - proven.data.unixTime;
    const isCut = leftSeconds !== undefined && leftSeconds <= CUT_SECONDS_MAX;
    const recorded: Partial<Record<keyof Statement, Value>> = {
      job_id: formatJobId(JobLocked.data.jobId),
      model: JobLocked.data.modelId,
      escrow_tx: JobLocked.transaction.signature,
      worker: proven?.data.worker.toBase58() ?? 'of no proof',
      attempt: proven?.data.attempt ?? 0,
      output_hash: proven ? `sha256:${show(proven.data.outputHash)}` : 'of no proof',
      credits_charged: charge,
      usdc_value: inStablecoin(charge),
      'usage.cost': inStablecoin(charge),
      ...(settled && tokensOf(settled.data)),
      settlement_tx: settled?.transaction.signature ?? 'of no settlement',
      ...(stated.truncated === CUT && {
        truncated: isCut ? CUT : `of a proof with ${leftSeconds ?? 'no'} seconds left`,
      }),
    };
    const fields = (Object.keys(recorded) as (keyof typeof recorded)[]).filter(
      (field) => stated[field] !== undefined || (settled && CHARGED.includes(field)),
    );
    return compare(
      Object.fromEntries(
        fields.map((field) => [
          `its ${field}`,
          [stated[field] ?? 'missing', recorded[field] ?? ''],
        ]),
      ),
      `The ledger records the same ${fields.join(', ')}.`,
    );
  }),
);

/** A credit is a hundredth. */
const inStablecoin = (credits: bigint): number => Number(credits) / 100;

/** Those that the charge is for are the lower of both counts. */
const tokensOf = ({ promptTokens, completionTokens, countedTokens }: Events['JobSettled']) => ({
  'usage.prompt_tokens': promptTokens,
  'usage.completion_tokens': Math.min(completionTokens, countedTokens),
});

/** For a check that compares what the client gave. Without a counterpart it cannot be checked. */
function whenGiven(field: keyof ClientEvidence, check: Rule): Rule {
  return (record) => {
    const found = check(record);
    if (record[field] === undefined) {
      return { ...found, ...notApplicable(`No ${field} was given.`), evidence: [] };
    }
    return found.verdict === 'not_applicable' ? { ...found, ...notCheckable(found.detail) } : found;
  };
}
