/** What a job took of the ledger, as the mean over a number of jobs. */
export interface JobCost {
  /** Those of its transactions, as the ledger has them. */
  version: string;
  /** So many asked at once. */
  clients: number;
  lamports: number;
  computeUnits: number;
  bytes: number;
  transactions: number;
}

const LAMPORTS_PER_SOL = 1e9;
/** The price of the cheapest job: 2 credits. */
const CHEAPEST_USD = 0.02;

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

function shareOf(lamports: number, solUsd: number): string {
  const usd = (Math.round(lamports) / LAMPORTS_PER_SOL) * solUsd;
  return `${((usd * 100) / CHEAPEST_USD).toFixed(1)} %`;
}

/** In Markdown, as the documents show it. @param solUsd the price of a SOL */
export function costTable(costs: readonly JobCost[], solUsd: number): string {
  const rows = costs.map(({ version, clients, lamports, computeUnits, bytes, transactions }) => [
    version,
    String(clients),
    ...[lamports, computeUnits, bytes].map(whole),
    transactions.toFixed(2),
    shareOf(lamports, solUsd),
  ]);
  const head = [
    ...['version', 'clients', 'lamports', 'compute units', 'bytes', 'transactions'],
    `of the cheapest job, at ${solUsd} USD a SOL`,
  ];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n');
}
