import { usdcValue } from '../../common/format.ts';
import { describePriceSteps } from '../../common/priceSteps.ts';
import type { ModelObject } from '../contracts/network.ts';
import { plain, table } from './markdown.ts';
import type { Page } from './page.ts';

/** GET /docs/models: what can be asked at present, and what it costs. */
export function modelsPage(options: {
  listed: () => Promise<ModelObject[]>;
  /** The address of the stablecoin's mint; null until the mirror knows it. */
  creditMint: () => Promise<string | null>;
}): Page {
  const { listed, creditMint } = options;
  return {
    path: '/docs/models',
    source: '/docs/models.md',
    title: 'Models and prices',
    summary: 'What can be asked at present, and what it costs.',
    text: `# Models and prices

As they are now: the same as \`GET /v1/models\`. A model is listed while at least one worker hosts it. A request keeps the price at which its credits were locked.

## Prices

One credit is 0.01 of the stablecoin. An answer up to a model's long threshold costs the credits per request. A longer one costs the rate for all its tokens, rounded up, and never more than was locked. What a model thinks before its answer is free.
`,
    live: async () => {
      const mint = await creditMint();
      const named = `The stablecoin is the token of the mint \`${mint}\` on the ledger.\n\n`;
      return `${mint === null ? '' : named}${describeModels(await listed())}\n`;
    },
  };
}

function describeModels(models: readonly ModelObject[]): string {
  if (models.length === 0) return 'No worker hosts a model at present.';
  const rows = models.map(({ id, owned_by, svc }) => [
    `${id.includes('`') ? plain(id) : `\`${id}\``}\n\n${plain(owned_by)}, ${plain(svc.parameters)}`,
    plain(svc.tier),
    `${svc.credits_per_request}\n\n${usdcValue(BigInt(svc.credits_per_request)).toFixed(2)}`,
    `${svc.credits_per_1k_tokens}`,
    `${svc.long_completion_threshold}`,
    `${svc.context_window}`,
    `${svc.active_workers}`,
    `${svc.median_latency_ms} ms`,
    svc.retires_at ?? '',
  ]);
  const head = [
    'Model',
    'Tier',
    'Credits per request',
    'per 1,000 tokens',
    'Long threshold',
    'Context window',
    'Workers',
    'First token',
    'Retires',
  ];
  return [...describePriceSteps(models.map(({ svc }) => svc)), table(head, rows)].join('\n\n');
}
