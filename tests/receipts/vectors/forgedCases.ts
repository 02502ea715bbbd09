import { createForgedScene, JOB_NAMES } from '../../auditors/forgedScene.ts';
import { FORGERIES } from '../../auditors/forgeries/all.ts';
import { boundaries } from './boundaryCases.ts';
import { allConditions } from './conditions/all.ts';
import { conditionCases } from './conditions/condition.ts';
import { omissions, unknownVersions, verdicts } from './omissionCases.ts';
import { casesOf, type NodeCases } from './sight.ts';

/**
 * Jobs that ended in every way, seen through an honest node, and through nodes that lie.
 *
 * @param options.version of the jobs' transactions. Those of version 1 differ in the signed bytes
 *   alone, so only the lies about these are among them
 */
export async function forgedCases(version: 0 | 1): Promise<NodeCases> {
  const scene = await createForgedScene({ version });
  try {
    const honest = JOB_NAMES.map((name) => ({ name, job: scene.jobs[name], forgery: {} }));
    const lies = FORGERIES.filter(
      ({ fails }) => version === 0 || fails.includes('history.signatures'),
    ).map(({ what, job, forgery }) => ({
      name: `${what} (${job})`,
      job: scene.jobs[job],
      forgery: forgery(scene.jobs),
    }));
    const others =
      version === 0
        ? [
            ...omissions(scene),
            ...verdicts(scene),
            ...unknownVersions(scene),
            ...(await boundaries(scene)),
          ]
        : [];
    const name = version === 0 ? 'legacy' : 'version 1';
    const seen = await casesOf(scene.node, name, [...honest, ...lies, ...others]);
    if (version === 1) return seen;
    const { jobs } = scene;
    const conditions = await conditionCases(
      ...([name, seen.node, allConditions({ jobs, node: seen.node })] as const),
    );
    return { ...seen, cases: [...seen.cases, ...conditions] };
  } finally {
    await scene.ledger.close();
  }
}
