import { delay } from '../../common/wait.ts';
import { startProcess } from '../../testing/childProcess.ts';
import {
  accepted,
  type Forward,
  type RpcRequest,
} from '../../testing/ledger/interceptedConnection.ts';
import { type Interceptor, nodeUnavailable } from '../../testing/ledger/ledgerGate.ts';
import type { Random } from '../../testing/random.ts';
import type { Scene } from './scene.ts';

/** A fault that strikes everybody for a while. It is over when it resolves. */
export type WorldFault = (scene: Scene, random: Random) => Promise<void>;

const isSend = ({ method }: RpcRequest): boolean => method === 'sendTransaction';

/** Lets an interceptor work for some time. */
function withInterceptor(msMax: number, create: (random: Random) => Interceptor): WorldFault {
  return async ({ ledgerGate }, random) => {
    ledgerGate.intercept(create(random));
    await delay(100 + random.below(msMax));
    ledgerGate.open();
  };
}

/** A transaction that was seen on a fork which everybody then abandoned. */
function forking(random: Random): Interceptor {
  const seen = new Map<string, number>();
  const later: (() => void)[] = [];
  return async (request: RpcRequest, forward: Forward) => {
    if (isSend(request) && random.below(2) === 0) {
      const answer = accepted(request);
      // Some land on the other fork too, only later.
      if (random.below(2) === 0) later.push(() => void forward(request).catch(() => undefined));
      for (const land of later.splice(0, random.below(2))) land();
      return answer;
    }
    if (request.method !== 'getSignatureStatuses') return forward(request);
    const answer = (await forward(request)) as {
      result?: { context: { slot: number }; value: (object | null)[] };
    };
    const signatures = request.params[0] as string[];
    const value = answer.result?.value.map((status, index) => {
      const signature = String(signatures[index]);
      if (status !== null) return status;
      const times = (seen.get(signature) ?? 0) + 1;
      seen.set(signature, times);
      // Processed at first, gone after.
      return times > 2
        ? null
        : {
            slot: answer.result?.context.slot,
            confirmations: 0,
            err: null,
            confirmationStatus: 'processed',
          };
    });
    return { ...answer, result: { ...answer.result, value } };
  };
}

export const WORLD_FAULTS = {
  'node away': withInterceptor(1_200, () => nodeUnavailable),
  'transactions lost': withInterceptor(800, (random) => async (request, forward) => {
    const isLost = isSend(request) && random.below(2) === 0;
    return isLost ? accepted(request) : forward(request);
  }),
  'transactions landed, connection cut': withInterceptor(
    1_000,
    (random) => async (request, forward) => {
      const answer = await forward(request);
      if (isSend(request) && random.below(2) === 0) throw new Error('the connection is cut');
      return answer;
    },
  ),
  'node slow': withInterceptor(1_500, (random) => async (request, forward) => {
    await delay(random.below(400));
    return forward(request);
  }),
  'node behind': withInterceptor(1_000, (random) => async (request, forward) => {
    if (isSend(request) || random.below(3) > 0) return forward(request);
    const error = { code: -32016, message: 'Minimum context slot has not been reached' };
    return { jsonrpc: '2.0', id: request.id, error };
  }),
  'fork abandoned': withInterceptor(1_000, forking),
  'database connections cut': async ({ databaseGate }) => {
    await databaseGate.shut();
    await databaseGate.open();
  },
  'database away': async ({ databaseGate }, random) => {
    await databaseGate.shut();
    await delay(100 + random.below(900));
    await databaseGate.open();
  },
  'database silent': async ({ databaseGate }, random) => {
    databaseGate.freeze();
    await delay(100 + random.below(900));
    databaseGate.thaw();
  },
  'worker connections cut': async ({ service, honest }) => {
    const faulty = service.workers.filter((worker) => !honest.includes(worker));
    for (const worker of faulty) worker.drop();
  },
  'worker killed': ({ workerProcess }) => workerProcess.restart(),
  'indexer killed': async (scene) => {
    // The next one stands by, and leads once this one is gone.
    scene.indexers.push(await startProcess('indexer/main.ts', scene.service.indexerEnvironment));
    await scene.indexers.shift()?.kill();
  },
} as const satisfies Record<string, WorldFault>;

export type WorldFaultName = keyof typeof WORLD_FAULTS;

export const WORLD_WEIGHTS: Record<WorldFaultName | 'API killed' | 'none', number> = {
  ...{ 'node away': 3, 'transactions lost': 4, 'transactions landed, connection cut': 4 },
  ...{ 'node slow': 2, 'node behind': 3, 'fork abandoned': 4 },
  ...{ 'database connections cut': 3, 'database away': 3, 'database silent': 2 },
  ...{
    'worker connections cut': 3,
    'indexer killed': 2,
    'API killed': 3,
    'worker killed': 3,
    none: 5,
  },
};
