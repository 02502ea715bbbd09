import { usdcValue } from '../../common/format.ts';
import { describePriceSteps } from '../../common/priceSteps.ts';
import type { ModelObject } from '../contracts/model.ts';
import { type Html, html, type Page } from './page.ts';

/** GET /docs/models: what can be asked at present, and what it costs. */
export function modelsPage(options: {
  listed: () => Promise<ModelObject[]>;
  /** The address of the stablecoin's mint; null until the mirror knows it. */
  creditMint: () => Promise<string | null>;
}): Page {
  const { listed, creditMint } = options;
  return {
    path: '/docs/models',
    title: 'Models and prices',
    contents: [{ title: 'Prices', anchor: 'prices' }],
    body: html`<h1>Models and prices</h1>
<p>As they are now: the same as <code>GET /v1/models</code>. A model is listed while at least one worker hosts it. A request keeps the price at which its credits were locked.</p>
<h2 id="prices">Prices</h2>
<p>One credit is 0.01 of the stablecoin. An answer up to a model's long threshold costs the credits per request. A longer one costs the rate for all its tokens, rounded up, and never more than was locked. What a model thinks before its answer is free.</p>`,
    live: async () => html`${renderMint(await creditMint())}${renderModels(await listed())}`,
  };
}

function renderMint(mint: string | null): Html {
  if (mint === null) return html``;
  return html`<p>The stablecoin is the token of the mint <code>${mint}</code> on the ledger.</p>
`;
}

function renderModels(models: readonly ModelObject[]): Html {
  if (models.length === 0) return html`<p>No worker hosts a model at present.</p>`;
  const rows = models.map(
    ({ id, owned_by, svc }) => html`<tr>
<td><code>${id}</code><br><small>${owned_by}, ${svc.parameters}</small></td>
<td>${svc.tier}</td>
<td>${svc.credits_per_request}<br><small>${usdcValue(BigInt(svc.credits_per_request)).toFixed(2)}</small></td>
<td>${svc.credits_per_1k_tokens}</td>
<td>${svc.long_completion_threshold}</td>
<td>${svc.context_window}</td>
<td>${svc.active_workers}</td>
<td>${svc.median_latency_ms} ms</td>
<td>${svc.retires_at ?? ''}</td>
</tr>
`,
  );
  const steps = describePriceSteps(models.map(({ svc }) => svc));
  return html`${steps.map((step) => html`<p>${step}</p>`)}
<div class="table"><table>
<thead><tr><th>Model</th><th>Tier</th><th>Credits per request</th><th>per 1,000 tokens</th><th>Long threshold</th><th>Context window</th><th>Workers</th><th>First token</th><th>Retires</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}
