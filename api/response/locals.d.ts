import type { ErrorCode } from '../contracts/errorTable.ts';
import type { Session } from '../sessions/sessions.ts';
import type { KeyAndAccount } from '../sql/accounts.ts';
import type { RequestTrace, Stages } from '../telemetry/tracing.ts';

declare global {
  namespace Express {
    /** What a part of the API leaves on a response for later ones. */
    interface Locals {
      /** Names the request in its response and in our logs. */
      requestId: string;
      trace: RequestTrace;
      /** Of the key that was admitted, or of the session's wallet where the route needs a spender. */
      key?: KeyAndAccount | undefined;
      session?: Session | undefined;
      /** What the client proved itself by, its key or its session's token. No part keeps it longer. */
      secret: string;
      /** When a page's request came, by `performance.now()`. */
      arrivedMs: number;
      /** The job that the request became; none before its lock. */
      job?: { modelId: string; stages: Stages };
      /** The error that the response ends with, in its body or at the end of its stream. */
      errorCode?: ErrorCode;
      /** Whether the client has its whole answer, though the response goes on for a moment. */
      isWhole?: true;
    }
  }
}
