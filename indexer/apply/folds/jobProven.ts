import { type Fold, update } from '../change.ts';

export const foldJobProven: Fold<'JobProven'> = ({ data }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'settling',
      output_hash: data.outputHash,
      prompt_tokens: data.promptTokens,
      completion_tokens: data.completionTokens,
      proven_at: data.unixTime,
    },
  ),
];
