import { describe, expect, it } from '@jest/globals';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import { costTable, type JobCost } from '../../bench/cost/report.ts';
import { describePriceSteps } from '../../common/priceSteps.ts';
import { accountSize } from '../../programs/client/codec.ts';
import { chargeCredits, freeTokenLimit, lockCredits } from '../../programs/client/pricing.ts';
import { TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { type CatalogModel, LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { readDocuments } from './documents.ts';

const documents = readDocuments();
const pageOf = (path: string) => documents.find((document) => document.path === path)?.text ?? '';

const tiers = [...Map.groupBy(LAUNCH_CATALOG, ({ tier }) => tier)].flatMap(([tier, models]) =>
  models[0] ? [{ tier, models, price: models[0] }] : [],
);
const shown = (price: CatalogModel) => ({
  tier: price.tier,
  credits_per_request: price.creditsPerRequest,
  credits_per_1k_tokens: price.creditsPer1kTokens,
  long_completion_threshold: price.longCompletionThresholdTokens,
});
const launchPrices = tiers.map(({ price }) => shown(price));
const NAMED_TIERS = ['max', 'standard'];

describe('the prices on the pages', () => {
  it('are those of the launch catalog in the table of README.md', () => {
    const rows = tiers.map(({ tier, models, price }) => {
      const ids = models.map(({ id }) => id).join(', ');
      return `| ${tier} | ${price.creditsPerRequest} | ${price.creditsPer1kTokens} | ${ids} |`;
    });

    expect(pageOf('README.md')).toContain(`\n${rows.join('\n')}\n`);
  });

  it.each(['README.md', 'docs/getting-started.md'])(
    'name in %s the step that the price function has above the threshold',
    (path) => {
      const named = launchPrices.filter(({ tier }) => NAMED_TIERS.includes(tier));

      const [step = '', ...others] = describePriceSteps(named);
      expect(others).toEqual([]);
      expect(pageOf(path)).toMatch(new RegExp(`[Aa]${step.slice(1).replaceAll('.', '\\.')}`));
    },
  );

  it('stand in one order, with models in any order', () => {
    const steps = describePriceSteps(launchPrices);
    expect(describePriceSteps(launchPrices.toReversed())).toEqual(steps);
    expect(steps[0]).toMatch(/than one of 500: 11, not 40, on max; /);
  });

  it('name the limit without max_tokens, and the threshold that has no step', () => {
    const [limit, ...others] = new Set(tiers.map(({ price }) => freeTokenLimit(price)));
    const stepless = launchPrices.map((price) => ({
      ...price,
      long_completion_threshold: Number(limit),
    }));

    const text = pageOf('docs/getting-started.md');
    const count = Number(limit).toLocaleString('en-US');
    expect(others).toEqual([]);
    expect(text).toContain(`covers at the rate: ${count} tokens.`);
    expect(text).toContain(`A model whose threshold is ${count} tokens has no such step.`);
    expect(describePriceSteps(stepless)).toEqual([]);
  });

  it('name in SECURITY.md up to how many tokens a longer text costs less', () => {
    const costsLess = (price: CatalogModel, tokens: number) =>
      chargeCredits(price, tokens, lockCredits(price, tokens)) < price.creditsPerRequest;
    const counts = tiers.toReversed().map(({ tier, price }) => {
      let tokens = price.longCompletionThresholdTokens;
      while (costsLess(price, tokens + 1)) tokens += 1;
      return `${tokens.toLocaleString('en-US')} (${tier})`;
    });

    const [last, ...before] = counts.toReversed();
    expect(pageOf('SECURITY.md')).toContain(`up to ${before.toReversed().join(', ')} or ${last}.`);
  });
});

describe('what the ledger takes for a job', () => {
  const ROW = /^\| (legacy|1) \| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|/gm;
  const SOL_USD = 150;

  it('is in README.md and docs/scaling.md as bench:cost prints it', () => {
    const rows = [...pageOf('docs/scaling.md').matchAll(ROW)];
    const costs = rows.map(([, version = '', ...cells]): JobCost => {
      const numbers = cells.map((cell) => Number(cell.replaceAll(',', '')));
      const [clients = 0, lamports = 0, computeUnits = 0, bytes = 0, transactions = 0] = numbers;
      return { version, clients, lamports, computeUnits, bytes, transactions };
    });

    const rounds = costs.map(({ version, clients }) => [version, clients]);
    expect(rounds).toEqual(['legacy', '1'].flatMap((each) => [1, 16, 64].map((n) => [each, n])));
    const table = `\n\n${costTable(costs, SOL_USD)}\n`;
    expect(pageOf('docs/scaling.md')).toContain(table);
    expect(pageOf('README.md')).toContain(table);
  });
});

describe('the sentence on a step of prices', () => {
  const [dear = shown(LAUNCH_CATALOG[0] as CatalogModel)] = launchPrices;

  it('names each charge once, whichever models have it', () => {
    expect(describePriceSteps([dear, dear])).toEqual([
      'A text of 501 tokens costs fewer credits than one of 500: 11, not 40, on max.',
    ]);
  });

  it('stands once for each threshold', () => {
    const other = { ...dear, long_completion_threshold: 1_000 };

    expect(describePriceSteps([dear, other])[1]).toBe(
      'A text of 1001 tokens costs fewer credits than one of 1000: 21, not 40, on max.',
    );
  });
});

/** Mainnet's in November 2026, as docs/deploying.md says with its source. */
const LAMPORTS_PER_BYTE = 5_080;
const ACCOUNT_OVERHEAD_BYTES = 128;
const LAMPORTS_PER_SIGNATURE = 5_000;

const rentOf = (dataBytes: number): number =>
  (ACCOUNT_OVERHEAD_BYTES + dataBytes) * LAMPORTS_PER_BYTE;
const jobRent = rentOf(accountSize('Job'));
const spell = (number: number): string => number.toLocaleString('en-US');

describe('the rent on the pages, at the rate of mainnet', () => {
  const deploying = pageOf('docs/deploying.md');

  it('is named with its rate', () => {
    expect(deploying).toContain(`a byte costs ${spell(LAMPORTS_PER_BYTE)} lamports`);
  });

  it('is that of a Job for each open job', () => {
    expect(deploying).toContain(`| ${spell(jobRent)} lamports for each open job at that rate, `);
    expect(pageOf('docs/operating.md')).toContain(`the open jobs: ${spell(jobRent)} each `);
  });

  it('is out for three minutes of a job, at ten jobs a second', () => {
    const sol = ((10 * 180 * jobRent) / LAMPORTS_PER_SOL).toFixed(1);
    expect(deploying).toContain(`so ${sol} SOL at 10 jobs a second`);
  });

  it('is that of a credit account, with a fee, for the first purchase', () => {
    const sol = (rentOf(accountSize('CreditAccount')) + LAMPORTS_PER_SIGNATURE) / LAMPORTS_PER_SOL;
    for (const path of ['docs/getting-started.md', 'docs/llms.md']) {
      expect(pageOf(path)).toContain(`0.01 SOL: the first purchase takes ${sol.toFixed(5)} SOL at`);
    }
  });

  it('is that of a Worker with its payout and stake accounts', () => {
    const lamports = rentOf(accountSize('Worker')) + 2 * rentOf(TOKEN_ACCOUNT.bytes);
    const sol = (lamports / LAMPORTS_PER_SOL).toFixed(3);
    expect(deploying).toContain(`| registering, staking | ${sol} SOL at that rate, and fees.`);
  });
});
