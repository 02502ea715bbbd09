import type { CodeBlock } from '../documents.ts';

/** What is wrong with a block. */
export interface Fault {
  block: CodeBlock;
  problem: string;
}
