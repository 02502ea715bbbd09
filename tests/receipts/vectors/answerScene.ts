import { modelCardHash, modelUpsert } from '../../../programs/client/index.ts';
import { bytesToHex } from '../../../programs/client/platform/bytes.ts';
import type { JobScene } from '../../../testing/ledger/jobScene.ts';
import type { Random } from '../../../testing/random.ts';
import { type Dialogue, drawDialogue, withStatement } from './answeredJob.ts';
import { drawWithTools } from './conditions/toolQuestions.ts';
import { drawWords } from './draw.ts';
import type { Body } from './requestForms.ts';

type Card = Readonly<Record<string, string>>;

/** What a model pins one after the other. */
export interface ModelCards {
  readonly first: Card;
  readonly later: Card;
}

const DAY_SECONDS = 86_401;

/** Some alone, some together, and some that ended otherwise. */
export async function runJobs(random: Random, scene: JobScene) {
  /** @param later what the first of the jobs is given beside what is drawn */
  const lock = async (count: number, later: Body = {}): Promise<Dialogue[]> => {
    const tokenLimit = 100 + random.below(9_000);
    const model = scene.service.model.id;
    const locked = await scene.lock({ count, tokenLimit });
    return locked.map((one, at) =>
      drawDialogue(random, { locked: one, at, model, tokenLimit, ...(at === 0 && { later }) }),
    );
  };
  const alone = [...(await lock(1)), ...(await lock(1, { passed_later: drawWords(random) }))];
  const cards = { first: drawCard(random), later: drawCard(random) };
  await pin(scene, cards.first);
  const together = await lock(3, drawWithTools(random) as unknown as Body);
  await pin(scene, cards.later);
  for (const { address, answering } of alone) await scene.complete(address, answering);
  await scene.completeTogether(
    together.map(({ address, answering }) => ({ job: address, ...answering })),
  );
  const [rejected, contested, upheld, failed, refunded, closed] = (await lock(6)) as [
    ...[Dialogue, Dialogue, Dialogue, Dialogue, Dialogue, Dialogue],
  ];
  for (const { address, answering } of [rejected, contested, closed]) {
    await scene.complete(address, answering);
  }
  await scene.complete(upheld.address);
  await scene.dispute(rejected.address);
  await scene.disputeAsWallet(contested.address);
  await scene.disputeAsWallet(upheld.address);
  await scene.fail(failed.address);
  await scene.resolve(rejected.address, 'rejected');
  await scene.resolve(contested.address, 'rejected');
  await scene.resolve(upheld.address, 'upheld_worker');
  await scene.wait(DAY_SECONDS);
  await scene.refund(refunded.address);
  const answered = await Promise.all(
    [...alone, ...together, closed].map((dialogue) => withStatement(scene, dialogue)),
  );
  await scene.close([closed.address]);
  const others = {
    'a dispute that was rejected': rejected,
    'a dispute by the wallet that was rejected': contested,
    'a dispute by the wallet that was upheld': upheld,
    'an answer that failed': failed,
    'an answer that never came': refunded,
  };
  return { answered, others, cards, failed: await withStatement(scene, failed) };
}

const drawCard = (random: Random): Card => ({
  source: `https://models.example/${random.below(1_000)}`,
  revision: bytesToHex(random.bytes(20)),
  licence: drawWords(random),
});

async function pin({ service, send }: JobScene, card: Card): Promise<void> {
  const authority = service.operator.authority.publicKey;
  const cardHash = modelCardHash(card);
  await send([modelUpsert({ ...service.model, authority, cardHash })], []);
}
