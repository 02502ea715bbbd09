import { sha256 } from '#platform';
import type { Value } from '../../codec.ts';
import type { Events } from '../../events.ts';
import { formatJobId } from '../../jobId.ts';
import { utf8 } from '../../platform/bytes.ts';
import { freeTokenLimit } from '../../pricing.ts';
import {
  canonicalJson,
  parseReceipt,
  receiptMessage,
  requestCommitment,
  verifyHashed,
} from '../../proof.ts';
import { answerDetails, statementOf } from '../../statement.ts';
import { shown } from '../answer/fields.ts';
import { differenceOf } from '../answer/nearTexts.ts';
import type { SentChat, SentRequest } from '../answer/sentRequest.ts';
import type { StatedFields } from '../answer/statedFields.ts';
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
 * How the answer ends, and what it holds beside its text, is what the worker proved. The request's half
 * of the statement is as the answer names it.
 */
export const details = whenGiven(
  'details',
  rule('delivery.details', ['JobProven'], ({ JobProven }, record) => {
    const { details: said, requestCommitment: asked, answerDetails: named } = record;
    if (said === undefined || asked === undefined) {
      return notCheckable("It is compared by the answer's svc.request_commitment.");
    }
    const found = answerDetails(said);
    const statement = statementOf({ requestCommitment: asked, answerDetails: found });
    return compare(
      {
        'the hash of the details': [found, named ?? found],
        'the statement': [statement, JobProven.data.statement],
      },
      'Finish reason, cut, reasoning and calls of tools give the proven statement.',
    );
  }),
);

/**
 * The key that settled signed that it delivered what the worker proved. A signature for another text or
 * statement, the client's, convicts the key that settled.
 */
export const receipt = whenGiven(
  'receipt',
  rule('delivery.receipt', ['JobProven', 'JobSettled'], ({ JobProven, JobSettled }, record) => {
    const parts = parseReceipt(record.receipt ?? '');
    if (!parts) return fails('It is not spelled as a delivery receipt.');
    const { settledBy, outputHash, job } = JobSettled.data;
    const { statement } = JobProven.data;
    const { programId } = record.addresses;
    const signer = parts.signer.toBase58();
    const isFor = (delivered: { outputHash: Uint8Array; statement: Uint8Array }) =>
      verifyHashed({
        publicKey: parts.signer,
        message: receiptMessage({ programId, job, ...delivered }),
        signature: parts.signature,
      });
    // Anybody can sign anything with a key of his own.
    if (!parts.signer.equals(settledBy)) {
      return fails(`It is signed by ${signer}, who did not settle this job: it is no evidence.`);
    }
    if (isFor({ outputHash, statement })) {
      return holds(`${signer}, who settled, signed that the proven answer was delivered.`);
    }
    const { output: text, requestCommitment: asked, answerDetails: said } = record;
    const hashes = [text ? sha256(text) : outputHash, outputHash];
    const given = asked && said && statementOf({ requestCommitment: asked, answerDetails: said });
    const isOfGiven = hashes.some((hash) =>
      [given ?? statement, statement].some((one) => isFor({ outputHash: hash, statement: one })),
    );
    return isOfGiven
      ? fails(`${signer} signed that the given answer was delivered, and not the proven one.`)
      : fails(`${signer} did not sign that the proven answer was delivered for this job.`);
  }),
);

/** What the client asked is what the worker says that it was asked. */
export const request = whenGiven(
  'request',
  rule(
    'delivery.request',
    ['JobLocked', 'JobProven'],
    ({ JobLocked, JobProven }, { request: asked, salt, answerDetails: said, model }) => {
      if (asked === undefined || salt === undefined || said === undefined) {
        return notCheckable(
          "It is compared by the answer's svc.request_salt and svc.answer_details.",
        );
      }
      const { chat: sent } = asked;
      const { modelId, tokenLimit } = JobLocked.data;
      const { statement: proven } = JobProven.data;
      const statementTo = (chat: SentChat) =>
        statementOf({
          requestCommitment: requestCommitment(salt, { ...chat, token_limit: tokenLimit }),
          answerDetails: said,
        });
      const isProven = (chat: SentChat) => {
        try {
          return show(statementTo(chat)) === show(proven);
        } catch {
          // A field that is not known may have no canonical form.
          return false;
        }
      };
      if (isProven(sent) || countedIn(asked).some(isProven)) {
        const wrong = judgeLimit(asked, JobLocked.data, model?.account);
        return (
          wrong ??
          holds(`Salt and request, with at most ${tokenLimit} tokens, give the proven statement.`)
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
        ? compare({ 'the statement': [statementTo(sent), proven] }, '')
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
  const bytes = utf8(promptTexts(chat).join('')).length;
  const window = model.contextWindowTokens;
  const isCut = bytes + wanted > window && tokenLimit >= window - bytes;
  return isCut ? undefined : fails(`${differs}, though the context window leaves more.`);
}

/** What the model reads: contents, and calls and tools as JSON. */
const promptTexts = ({ messages, tools }: SentChat): string[] => [
  ...messages.map(({ content }) => content),
  ...[...messages.map((one) => one.tool_calls), tools].flatMap((one) =>
    one === undefined ? [] : canonicalJson(one),
  ),
];

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
    const recorded: Partial<Record<keyof StatedFields, Value>> = {
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
