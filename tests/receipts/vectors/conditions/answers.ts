import { Keypair, type PublicKey } from '@solana/web3.js';
import { modelCardHash } from '../../../../programs/client/index.ts';
import { utf8 } from '../../../../programs/client/platform/bytes.ts';
import { addresses } from '../../../../testing/ledger/jobScene.ts';
import type { AnsweredJob } from '../answeredJob.ts';
import type { ModelCards } from '../answerScene.ts';
import { encodeEvent, type Fields, fieldsOf, number, set } from '../fields.ts';
import {
  all,
  anyEvent,
  type Change,
  eventsOf,
  inAccount,
  inEvent,
  inList,
  inTransaction,
  withAccount,
} from '../nodeChanges.ts';
import { withSvc, withUsage } from '../savedForms.ts';
import type { LedgerSnapshot, SnapshotTransaction } from '../snapshot.ts';
import { type Condition, row } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;

interface Scene {
  readonly answer: AnsweredJob;
  /** Locked under the first card. */
  readonly carded: AnsweredJob;
  /** Locked under the next one. */
  readonly last: AnsweredJob;
  readonly failed: AnsweredJob;
  /** Whose dispute was rejected. */
  readonly rejected: PublicKey;
  readonly cards: ModelCards;
  readonly node: LedgerSnapshot;
}

export const answerConditions = (scene: Scene): Condition[] => [
  row(
    'a rejection with a hash of evidence',
    scene.rejected,
    inEvent(scene.rejected, 'DisputeResolved', set({ evidence_hash: Array(32).fill(7) })),
    'fails dispute.evidence',
  ),
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
    inAccount(model, 'Model', set({ context_window_tokens: size + tokens }));
  const lock = (fields: Fields) => inEvent(address, 'JobLocked', set(fields));
  const free = { max_tokens: undefined };
  const terms = (perRequest: number, rate: number, threshold: number) =>
    lock({
      credits_per_request: perRequest,
      credits_per_1k_tokens: rate,
      long_completion_threshold_tokens: threshold,
    });
  const more = { max_tokens: limit + 1 };
  const list: [string, object, Change | undefined, verdict: string][] = [
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
      'both limits, of which one is another',
      { max_completion_tokens: limit + 1 },
      undefined,
      'refused',
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
    answer_details: String(svc.answer_details),
    ...{ request: JSON.stringify({ ...body, ...changed }), ...(change && { change }) },
    is: verdict === 'refused' ? verdict : `${verdict} delivery.request`,
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
  const { svc } = failed;
  const [holds, fails] = ['holds delivery.answer', 'fails delivery.answer'];
  const list: [string, string, string][] = [
    ['and nothing else', says({}), `${holds}, not_applicable delivery.output`],
    ['and attempt 0', says({ attempt: 0 }), holds],
    ['and an attempt', says({ attempt: 1 }), fails],
    ['and a worker', says({ worker: svc.worker }), fails],
    [
      'and a hash',
      says({ output_hash: svc.output_hash }),
      `${fails}, not_checkable delivery.output`,
    ],
    ['and a settlement', says({ settlement_tx: svc.escrow_tx }), fails],
    ['and a charge', says({ credits_charged: 1 }), fails],
    ['and a value', says({ usdc_value: 0.01 }), fails],
    ['but a text', withSvc(failed, nothing), `${holds}, not_checkable delivery.output`],
  ];
  const error = {
    error: { message: 'No.' },
    svc: { job_id: svc.job_id, verify_url: svc.verify_url },
  };
  list.push(['but an error', JSON.stringify(error), `${holds}, not_applicable delivery.output`]);
  return list.map(([name, answer, is]) => ({
    name: `an answer that failed: no text, ${name}`,
    answer,
    is,
  }));
}

function statements({ answer }: Scene): Condition[] {
  const hidden = inTransaction(answer.address, 'JobCompleted', () => null);
  const [holds, fails] = ['holds delivery.answer', 'fails delivery.answer'];
  const says = (fields: object) => withSvc(answer, fields as never);
  const { svc, body } = answer;
  const timed =
    (seconds: number): Change =>
    (given) => {
      const lock = anyEvent(given, 'JobLocked', answer.address);
      const due = number(lock.unix_time).addn(Number(lock.job_timeout_seconds) + seconds);
      return inEvent(answer.address, 'JobCompleted', () => ({ unix_time: due }))(given);
    };
  const uncharged = { credits_charged: 0, usdc_value: 0, worker: null, attempt: null };
  return [
    {
      name: 'a charge that the node does not show yet',
      answer: says({}),
      change: hidden,
      is: 'not_checkable delivery.answer',
    },
    {
      name: 'no charge, and a settlement that the node does not show',
      answer: says({ ...uncharged, output_hash: null }),
      change: hidden,
      is: fails,
    },
    {
      name: 'another transaction as its settlement',
      answer: says({ settlement_tx: svc.escrow_tx }),
      is: fails,
    },
    ...(
      [
        ['in time', -31, fails],
        ['nearly out of time', -30, holds],
      ] as const
    ).map(([name, seconds, is]) => ({
      ...{ name: `a cut of a proof ${name}`, answer: says({ truncated: 'deadline' }), is },
      change: timed(seconds),
    })),
    {
      name: 'an error of a charged job',
      answer: JSON.stringify({
        error: {},
        svc: { job_id: svc.job_id, verify_url: svc.verify_url },
      }),
      is: `${fails}, not_applicable delivery.output`,
    },
    { name: 'a cut for another reason', answer: says({ truncated: 'tired' }), is: 'refused' },
    {
      name: 'counts of null',
      answer: withUsage(answer, { prompt_tokens: null, completion_tokens: null, cost: null }),
      is: holds,
    },
    {
      name: 'another model',
      answer: says({}).replace(`"model":${JSON.stringify(body.model)}`, '"model":"another"'),
      is: fails,
    },
  ];
}

/** What a model pinned, and how far back the node shows it. */
function cards({ carded, last, cards: { first, later }, node }: Scene): Condition[] {
  const model = addresses.model(String(carded.body.model));
  const { authority } = anyEvent(node, 'ConfigInitialized') as { authority: PublicKey };
  const [one, next] = [JSON.stringify(first), JSON.stringify(later)];
  const isNth = (sequence: number, shown: SnapshotTransaction) =>
    eventsOf(shown, 'ModelUpserted').some(
      (call) => Number(fieldsOf(call).model_sequence) === sequence,
    );
  const inNth = (sequence: number, change: (shown: SnapshotTransaction) => SnapshotTransaction) =>
    inTransaction(undefined, 'ModelUpserted', (shown) =>
      isNth(sequence, shown) ? change(shown) : shown,
    );
  const lock = Object.values(node.transactions).find(
    (shown) => shown && eventsOf(shown, 'JobLocked', carded.address).length > 0,
  );
  const behind = (lock?.transactionIndex ?? 0) + 1;
  /** The later card in the slot of the lock. */
  const moved = (transactionIndex?: number) =>
    inNth(3, (shown) => ({ ...shown, slot: lock?.slot ?? 0, transactionIndex }));
  const recast = (sequence: number, other: string, change: Fields) =>
    inNth(sequence, (shown) => {
      for (const call of eventsOf(shown, 'ModelUpserted')) {
        call.data = encodeEvent(other, { ...fieldsOf(call), ...change });
      }
      return shown;
    });
  const none = inList(authority, () => []);
  const own = (sequence: number) =>
    inAccount(
      model,
      'Model',
      set({ sequence: number(sequence), card_hash: [...modelCardHash(first)] }),
    );
  const unlisted = inList(authority, (rows) =>
    rows.filter(({ signature }) => !isNth(3, node.transactions[signature] as SnapshotTransaction)),
  );
  const list: [string, string, Change, verdict: string][] = [
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
    ['the later one, in the slot of the lock', next, moved(), 'holds'],
    ['the earlier one, before that in one slot', one, moved(), 'holds'],
    ['the later one, behind the lock', next, moved(behind), 'fails'],
    ['the earlier one, behind which the later came', one, moved(behind), 'holds'],
  ];
  const conditions = list.map(([name, card, change, verdict]) => ({
    ...{ name: `a card: ${name}`, job: carded.address, card, change },
    is: `${verdict} model.card`,
  }));
  const retired = recast(3, 'ModelRetired', {});
  return [
    ...conditions,
    {
      ...row('a card: of a model that retired since', last.address, retired, 'holds model.card'),
      card: one,
    },
  ];
}
