import type { AnswerDetails } from '../programs/client/statement.ts';

/** What an answer says beside its text, where it is whole and nothing else. */
export const TEXT_ALONE: AnswerDetails = {
  ...{ finishReason: 'stop', truncated: null, reasoning: '', toolCalls: [] },
};
