import anchor from '@coral-xyz/anchor';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { modelCardHash } from '../../../../programs/client/index.ts';
import { utf8 } from '../../../../programs/client/platform/bytes.ts';
import type { Verdict } from '../../../../programs/client/verify/check.ts';
import { addresses } from '../../../../testing/ledger/jobScene.ts';
import type { AnsweredJob } from '../answeredJob.ts';
import type { ModelCards } from '../answerScene.ts';
import {
  all,
  anyEvent,
  type Change,
  encodeEvent,
  eventsOf,
  type Fields,
  fieldsOf,
  inAccount,
  inEvent,
  inList,
  inTransaction,
  withAccount,
} from '../nodeChanges.ts';
import { withSvc, withUsage } from '../savedForms.ts';
import { type LedgerSnapshot, withChanges } from '../snapshot.ts';
import type { Condition } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;

interface Scene {
  readonly answer: AnsweredJob;
  /** Locked under the first card. */
  readonly carded: AnsweredJob;
  readonly failed: AnsweredJob;
  /** Whose dispute was rejected. */
  readonly rejected: PublicKey;
  readonly cards: ModelCards;
  readonly node: LedgerSnapshot;
}

export const answerConditions = (scene: Scene): Condition[] => [
  {
    ...{ name: 'a rejection with a hash of evidence', job: scene.rejected },
    change: inEvent(scene.rejected, 'DisputeResolved', () => ({
      evidence_hash: Array(32).fill(7),
    })),
    is: { 'dispute.evidence': 'fails' },
  },
  ...limits(scene),
  ...unpaid(scene),
  ...statements(scene),
  ...cards(scene),
];

/** The token limit of a request, and the price at which it was locked. */
function limits({ answer }: Scene): Condition[] {
  const { body, address, tokenLimit: limit, lockedCredits, svc } = answer;
  const model = addresses.model(String(body.model));
  const messages = body.messages as readonly { content: string }[];
  const size = messages.reduce((sum, { content }) => sum + utf8(content).length, 0);
  const window = (tokens: number) =>
    inAccount(model, 'Model', () => ({ context_window_tokens: size + tokens }));
  const lock = (fields: object) => inEvent(address, 'JobLocked', () => ({ ...fields }));
  const free = { max_tokens: undefined };
  const terms = (perRequest: number, rate: number, threshold: number) =>
    lock({
      credits_per_request: perRequest,
      credits_per_1k_tokens: rate,
      long_completion_threshold_tokens: threshold,
    });
  const more = { max_tokens: limit + 1 };
  const list: [string, object, Change | undefined, Verdict][] = [
    ['more tokens than the context window leaves', more, window(limit), 'holds'],
    [
      'more tokens than the context window, which leaves one more',
      more,
      window(limit + 1),
      'fails',
    ],
    [
      'fewer tokens, in a full context window',
      { max_tokens: limit - 1 },
      window(limit - 3),
      'fails',
    ],
    ['more tokens, and no model', more, withAccount(model, () => null), 'not_checkable'],
    [
      'more tokens, and another program’s model',
      more,
      withAccount(model, (held) => ({ ...held, owner: STRANGER.toBase58() })),
      'not_checkable',
    ],
    [
      'both limits, of which the first counts',
      { max_completion_tokens: limit + 1 },
      undefined,
      'holds',
    ],
    [
      'a limit of null beside the other',
      { max_tokens: null, max_completion_tokens: limit },
      undefined,
      'holds',
    ],
    ['no limit, and a price for as many tokens', free, terms(1, 1_000, limit), 'holds'],
    ['no limit, and a rate for as many tokens', free, terms(7 * limit + 3, 7_000, 0), 'holds'],
    ['no limit, and a rate for one token more', free, terms(7 * limit + 7, 7_000, 0), 'fails'],
    ['no limit, and no rate', free, terms(1, 0, 0), 'fails'],
    [
      'limits of null',
      { max_tokens: null, max_completion_tokens: null },
      terms(1, 1_000, limit),
      'holds',
    ],
    ['a ceiling of what was locked', { max_credits: lockedCredits }, undefined, 'holds'],
    ['a ceiling of null', { max_credits: null }, undefined, 'holds'],
  ];
  return list.map(([name, changed, change, verdict]) => ({
    ...{ name: `a request: ${name}`, job: address, salt: String(svc.request_salt) },
    ...{ request: JSON.stringify({ ...body, ...changed }), ...(change && { change }) },
    is: { 'delivery.request': verdict },
  }));
}

/** An answer without text, of a job that failed. */
function unpaid({ failed }: Scene): Condition[] {
  const nothing = {
    ...{ worker: null, attempt: null, output_hash: null, delivery_receipt: null },
    ...{ settlement_tx: null, request_salt: null },
  };
  const empty = { ...failed, text: '' };
  const says = (fields: object) => withSvc(empty, { ...nothing, ...fields });
  const [rule, output] = ['delivery.answer', 'delivery.output'];
  const { svc } = failed;
  const list: [string, string, Record<string, Verdict>][] = [
    ['and nothing else', says({}), { [rule]: 'holds', [output]: 'not_applicable' }],
    ['and attempt 0', says({ attempt: 0 }), { [rule]: 'holds' }],
    ['and an attempt', says({ attempt: 1 }), { [rule]: 'fails' }],
    ['and a worker', says({ worker: svc.worker }), { [rule]: 'fails' }],
    [
      'and a hash',
      says({ output_hash: svc.output_hash }),
      { [rule]: 'fails', [output]: 'not_checkable' },
    ],
    ['and a settlement', says({ settlement_tx: svc.escrow_tx }), { [rule]: 'fails' }],
    ['and a charge', says({ credits_charged: 1 }), { [rule]: 'fails' }],
    ['and a value', says({ usdc_value: 0.01 }), { [rule]: 'fails' }],
    ['but a text', withSvc(failed, nothing), { [rule]: 'holds', [output]: 'not_checkable' }],
  ];
  return list.map(([name, answer, is]) => ({
    name: `an answer that failed: no text, ${name}`,
    answer,
    is,
  }));
}

function statements({ answer }: Scene): Condition[] {
  const hidden = inTransaction(answer.address, 'JobCompleted', () => null);
  const rule = 'delivery.answer';
  const says = (fields: object) => withSvc(answer, fields as never);
  const { svc } = answer;
  return [
    {
      name: 'a charge that the node does not show yet',
      answer: says({}),
      change: hidden,
      is: { [rule]: 'not_checkable' },
    },
    {
      ...{ name: 'no charge, and a settlement that the node does not show', change: hidden },
      ...{
        answer: says({
          credits_charged: 0,
          usdc_value: 0,
          worker: null,
          attempt: null,
          output_hash: null,
        }),
        is: { [rule]: 'fails' },
      },
    },
    {
      name: 'another transaction as its settlement',
      answer: says({ settlement_tx: svc.escrow_tx }),
      is: { [rule]: 'fails' },
    },
    {
      ...{ name: 'counts of null', is: { [rule]: 'holds' } },
      answer: withUsage(answer, { prompt_tokens: null, completion_tokens: null, cost: null }),
    },
    {
      ...{ name: 'another model', is: { [rule]: 'fails' } },
      answer: says({}).replace(`"model":${JSON.stringify(answer.body.model)}`, '"model":"another"'),
    },
  ];
}

/** What a model pinned, and how far back the node shows it. */
function cards({ carded, cards: { first, later }, node }: Scene): Condition[] {
  const model = addresses.model(String(carded.body.model));
  const { authority } = anyEvent(node, 'ConfigInitialized') as { authority: PublicKey };
  const [one, next] = [JSON.stringify(first), JSON.stringify(later)];
  const { slot, transactionIndex = 0 } = shownWith(node, 'JobLocked', (fields) =>
    carded.address.equals(fields.job as never),
  );
  const nth = (sequence: number) => (fields: Fields) =>
    Number(fields.model_sequence) === sequence && 'card_hash' in fields;
  const moved =
    (sequence: number, index?: number): Change =>
    (before) => {
      const { name, shown } = shownWith(before, 'ModelUpserted', nth(sequence));
      const place = { slot, transactionIndex: index };
      return withChanges(before, { transactions: { [name]: { ...shown, ...place } as never } });
    };
  const recast =
    (sequence: number, other: string, change: Fields): Change =>
    (before) => {
      const { name, shown } = shownWith(before, 'ModelUpserted', nth(sequence));
      const copy = structuredClone(shown);
      for (const call of eventsOf(copy, 'ModelUpserted')) {
        call.data = encodeEvent(other, { ...fieldsOf(call), ...change });
      }
      return withChanges(before, { transactions: { [name]: copy } });
    };
  const none = inList(authority, () => []);
  const own = (sequence: number) =>
    inAccount(model, 'Model', () => ({
      ...{ sequence: new anchor.BN(sequence), card_hash: [...modelCardHash(first)] },
    }));
  const unlisted = inList(authority, (rows) =>
    rows.filter(({ signature }) => signature !== shownWith(node, 'ModelUpserted', nth(3)).name),
  );
  const list: [string, string, Change, Verdict][] = [
    ['no list of its changes', one, none, 'not_checkable'],
    ['no model', one, withAccount(model, () => null), 'not_checkable'],
    ['no configuration', one, withAccount(addresses.config, () => null), 'not_checkable'],
    ['a change that is not listed', one, unlisted, 'not_checkable'],
    ['a model that never changed', one, all(none, own(1)), 'holds'],
    ['another card of a model that never changed', next, all(none, own(1)), 'fails'],
    ['a model that changed once', one, all(none, own(2)), 'not_checkable'],
    ['a change that retired it', one, recast(2, 'ModelRetired', {}), 'not_checkable'],
    [
      'a change of another model',
      one,
      recast(2, 'ModelUpserted', { model: STRANGER }),
      'not_checkable',
    ],
    ['the later one, in the slot of the lock', next, moved(3), 'holds'],
    ['the earlier one, before that in one slot', one, moved(3), 'holds'],
    ['the later one, behind the lock', next, moved(3, transactionIndex + 1), 'fails'],
    ['the earlier one, behind which the later came', one, moved(3, transactionIndex + 1), 'holds'],
  ];
  return list.map(([name, card, change, verdict]) => ({
    ...{ name: `a card: ${name}`, job: carded.address, card, change },
    is: { 'model.card': verdict },
  }));
}

/** The transaction that has such an event, with its place. */
function shownWith(node: LedgerSnapshot, event: string, isMeant: (fields: Fields) => boolean) {
  for (const [name, shown] of Object.entries(node.transactions)) {
    if (!shown) continue;
    const found = eventsOf(shown, event).map((call) => fieldsOf(call) as Fields);
    if (found.some(isMeant)) {
      return { name, shown, slot: shown.slot, transactionIndex: shown.transactionIndex };
    }
  }
  throw new Error(`no transaction has such a ${event}`);
}
