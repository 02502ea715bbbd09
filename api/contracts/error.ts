import { z } from 'zod';
import { type ErrorCode, errorTable } from './errorTable.ts';

const codes = Object.keys(errorTable) as ErrorCode[];
const types = [...new Set(Object.values(errorTable).map(({ type }) => type))];

/** The body of every error, and of the last event of a stream that failed. */
export const errorObject = z.object({
  error: z.object({
    code: z.enum(codes),
    message: z.string().describe('For people; its wording may change.'),
    type: z.enum(types),
    param: z.string().nullable().describe('The request field at fault, if there is one.'),
    docs: z.string().meta({ format: 'uri' }).describe('Where this code is described.'),
    details: z.record(z.string(), z.unknown()).optional().describe('What depends on the code.'),
  }),
});

export type ErrorBody = z.infer<typeof errorObject>;
