import { runProgram } from './program.ts';
import { VERBS } from './verbs.ts';

await runProgram(VERBS);
