import { createRpc, type Rpc } from '../../programs/client/rpc/rpc.ts';
import {
  type Forward,
  forwardTo,
  type RpcRequest,
} from '../../testing/ledger/interceptedConnection.ts';

/**
 * A client of the real node over a network that loses or changes what the test says, question by
 * question. One that is lost goes unanswered among others, and loses its connection alone.
 */
export function interceptedRpc(
  rpcUrl: string,
  intercept: (request: RpcRequest, forward: Forward) => Promise<object>,
): Rpc {
  const forward = forwardTo(rpcUrl);
  return createRpc({
    async post(body) {
      const asked = JSON.parse(body) as RpcRequest | RpcRequest[];
      const answers = Array.isArray(asked)
        ? (await Promise.allSettled(asked.map((one) => intercept(one, forward)))).flatMap((end) =>
            end.status === 'fulfilled' ? [end.value] : [],
          )
        : await intercept(asked, forward);
      return { status: 200, text: JSON.stringify(answers) };
    },
  });
}
