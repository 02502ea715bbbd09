import { type KnownWorker, newcomer, type Standing } from '../../api/workers/worker.ts';

export const MODEL = 'the model';

/** A worker that answered its last probe at 0, with ten free slots and nothing against it. */
export function knownWorker(
  address: string,
  {
    standing,
    firstTokenMs,
    ...known
  }: Partial<Omit<KnownWorker, 'standing'>> & {
    standing?: Partial<Standing>;
    /** For MODEL, seen at 0. */
    firstTokenMs?: number;
  } = {},
): KnownWorker {
  const worker = newcomer({
    address,
    proof_key: '',
    payout: '',
    endpoint: `https://${address}.example.com`,
    models: [MODEL],
  });
  Object.assign(worker, { slots: 10, probedAtMs: 0, answeredAtMs: 0 }, known);
  Object.assign(worker.standing, standing);
  if (firstTokenMs !== undefined) {
    worker.firstTokens.set(MODEL, { ms: firstTokenMs, observedAtMs: 0 });
  }
  return worker;
}
