import { hexToBytes } from '@noble/hashes/utils.js';
import {
  gatewayUpdate,
  modelRetire,
  modelUpsert,
  PublicKey,
  pauseSet,
  RETIREMENT_NOTICE_SECONDS,
} from '@svc-inference/client/wallet';
import type { LedgerRules } from '../../../api/contracts/index.ts';
import { describePriceSteps } from '../../../common/priceSteps.ts';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { serviceNow } from '../../data/serviceTime.ts';
import { formatCount, formatTime } from '../../design/formats.ts';

type Model = Omit<LedgerRules['models'][number], 'address' | 'retires_at'>;

/** The announcement's time counts from when it lands, so that some minutes are added to the notice. */
const MARGIN_SECONDS = 3_600;

export function pausePlan(
  rules: Pick<LedgerRules, 'authority' | 'deposits_paused' | 'locks_paused'>,
  programId: string,
): Plan {
  const { authority, deposits_paused, locks_paused } = rules;
  return {
    title: 'Set the pauses',
    signer: authority,
    instructions: [
      pauseSet({
        programId: new PublicKey(programId),
        authority: new PublicKey(authority),
        depositsPaused: deposits_paused,
        locksPaused: locks_paused,
      }),
    ],
    describe: () => [
      deposits_paused ? 'No wallet can buy credits.' : 'Every wallet can buy credits.',
      locks_paused ? 'No new job can be locked.' : 'New jobs can be locked.',
      'Running jobs end as they would; withdrawals and refunds go on.',
    ],
  };
}

export function gatewayPlan(
  gateway: NonNullable<LedgerRules['gateway']>,
  isStopped: boolean,
  programId: string,
): Plan {
  const { operator, signers } = gateway;
  return {
    title: isStopped ? 'Stop the gateway' : 'Start the gateway',
    signer: operator,
    instructions: [
      gatewayUpdate({
        programId: new PublicKey(programId),
        operator: new PublicKey(operator),
        signers: signers.map((signer) => new PublicKey(signer)),
        stopped: isStopped,
      }),
    ],
    describe: () => [
      isStopped
        ? 'The gateway locks and acknowledges nothing any more: requests get 503.'
        : 'The gateway takes requests again.',
      `Its ${signers.length} signers stay as they are.`,
    ],
  };
}

export function modelPlan(model: Model, authority: string, programId: string): Plan {
  return {
    title: `Set ${model.id}`,
    signer: authority,
    instructions: [
      modelUpsert({
        programId: new PublicKey(programId),
        authority: new PublicKey(authority),
        id: model.id,
        tier: model.tier,
        label: model.label,
        originator: model.originator,
        contextWindowTokens: model.context_window,
        creditsPerRequest: model.credits_per_request,
        creditsPer1kTokens: model.credits_per_1k_tokens,
        longCompletionThresholdTokens: model.long_completion_threshold,
        ...(model.card_hash && {
          cardHash: hexToBytes(model.card_hash.replace('sha256:', '')),
        }),
      }),
    ],
    describe: () => [
      `A completion of up to ${formatCount(model.long_completion_threshold)} tokens costs ${formatCount(model.credits_per_request)} credits.`,
      `A longer one costs ${formatCount(model.credits_per_1k_tokens)} credits per 1,000 tokens.`,
      ...describePriceSteps([model]),
      model.card_hash ? `Its card is pinned as ${model.card_hash}.` : 'No card is pinned.',
      'This holds for locks from now on. Running jobs keep their price.',
    ],
  };
}

/** Announces a retirement at the earliest time there is, or takes the announcement back. */
export function retirePlan(
  model: LedgerRules['models'][number],
  authority: string,
  programId: string,
): Plan {
  const isKept = model.retires_at !== null;
  const seconds = Math.floor(serviceNow() / 1_000) + RETIREMENT_NOTICE_SECONDS + MARGIN_SECONDS;
  return {
    title: isKept ? `Keep ${model.id}` : `Retire ${model.id}`,
    signer: authority,
    instructions: [
      modelRetire({
        programId: new PublicKey(programId),
        authority: new PublicKey(authority),
        modelId: model.id,
        retiresAt: isKept ? 0n : BigInt(seconds),
      }),
    ],
    describe: () => [
      isKept
        ? 'The model goes on: its retirement is cancelled.'
        : `The model works until ${formatTime(new Date(seconds * 1_000).toISOString())}.`,
    ],
  };
}
