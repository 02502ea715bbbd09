import { type Cooldown, type KnownWorker, newWorker } from '../../api/workers/capacity.ts';

export const MODEL = 'the model';

/** A worker that answered its last probe at 0, with a free capacity of ten and nothing against it. */
export function knownWorker(
  address: string,
  {
    cooldown,
    firstTokenMs,
    ...known
  }: Partial<Omit<KnownWorker, 'cooldown'>> & {
    cooldown?: Partial<Cooldown>;
    /** For MODEL, seen at 0. */
    firstTokenMs?: number;
  } = {},
): KnownWorker {
  const worker = newWorker({
    address,
    proof_key: '',
    payout: '',
    endpoint: `https://${address}.example.com`,
    ...{ models: [MODEL], failed_canaries: [], formless: [], toolless: [] },
  });
  Object.assign(worker, { capacity: 10, probedAtMs: 0, answeredAtMs: 0 }, known);
  Object.assign(worker.cooldown, cooldown);
  if (firstTokenMs !== undefined) {
    worker.firstTokens.set(MODEL, { ms: firstTokenMs, observedAtMs: 0 });
  }
  return worker;
}
