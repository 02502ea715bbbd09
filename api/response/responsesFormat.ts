import { eventData } from '../../common/format.ts';
import { inNamesOfResponses, type ResponseEcho } from '../contracts/responses.ts';
import type { ResponseObject } from '../contracts/responsesAnswer.ts';
import type { AnswerEvents, AnswerFormat, AnswerIdentity, AnswerResult } from './delivery.ts';
import { createResponseItems, type ItemEvent } from './responseItems.ts';

/** @param echo what every form of the answer repeats of its request */
export function createResponsesFormat(echo: ResponseEcho): AnswerFormat {
  return {
    plain(identity) {
      const items = createResponseItems(identity.jobId);
      return {
        write: (piece) => void [...items.write(piece)],
        discard: items.forget,
        bodyOf(result, svc) {
          void [...items.finish(isCut(result))];
          return responseOf(identity, echo, { ...endOf(result, items.output()), svc });
        },
      };
    },
    stream: (identity) => createEvents(identity, echo),
    errorOf: inNamesOfResponses,
  };
}

function createEvents(identity: AnswerIdentity, echo: ResponseEcho): AnswerEvents {
  const items = createResponseItems(identity.jobId);
  let sequence_number = -1;
  const eventOf = ({ type, ...said }: ItemEvent): string => {
    sequence_number += 1;
    return `event: ${type}\ndata: ${eventData({ type, sequence_number, ...said })}\n\n`;
  };
  const eventsOf = (events: Iterable<ItemEvent>): string => Array.from(events, eventOf).join('');
  return {
    begin: () =>
      eventsOf(
        (['response.created', 'response.in_progress'] as const).map((type) => ({
          type,
          response: responseOf(identity, echo, { status: 'in_progress', output: [] }),
        })),
      ),
    write: (piece) => eventsOf(items.write(piece)),
    finish(result, svc) {
      const closing = eventsOf(items.finish(isCut(result)));
      const end = endOf(result, items.output());
      const response = responseOf(identity, echo, { ...end, svc });
      return closing + eventOf({ type: `response.${end.status}`, response });
    },
    /** Official clients throw by the first event, and others read the second. */
    fail({ error, svc }) {
      const { code, message } = error;
      const response = responseOf(identity, echo, {
        ...{ status: 'failed', output: items.output(), error: { code, message }, svc },
      });
      return eventsOf([
        { type: 'error', error, svc },
        { type: 'response.failed', response },
      ]);
    },
  };
}

const isCut = ({ finishReason }: AnswerResult): boolean =>
  finishReason === 'length' || finishReason === 'content_filter';

/** What of a response changes until it has ended. */
type Progress = Pick<ResponseObject, 'status' | 'output'> &
  Partial<Pick<ResponseObject, 'completed_at' | 'incomplete_details' | 'error' | 'usage' | 'svc'>>;

function endOf(result: AnswerResult, output: ResponseObject['output']) {
  const { finishReason, completedAt, usage } = result;
  const { prompt_tokens, completion_tokens, total_tokens, cost, completion_tokens_details } = usage;
  const reason = finishReason === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    status: isCut(result) ? ('incomplete' as const) : ('completed' as const),
    completed_at: completedAt,
    incomplete_details: isCut(result) ? ({ reason } as const) : null,
    output,
    usage: {
      input_tokens: prompt_tokens,
      input_tokens_details: { cached_tokens: 0 as const },
      output_tokens: completion_tokens,
      output_tokens_details: completion_tokens_details,
      total_tokens,
      cost,
    },
  };
}

function responseOf(
  { jobId, modelId, created }: AnswerIdentity,
  echo: ResponseEcho,
  { svc, ...progress }: Progress,
): ResponseObject {
  return {
    id: `resp_${jobId}`,
    object: 'response',
    created_at: created,
    ...{ completed_at: null, incomplete_details: null, error: null, usage: null },
    ...progress,
    model: modelId,
    ...echo,
    ...(svc && { svc }),
  };
}
