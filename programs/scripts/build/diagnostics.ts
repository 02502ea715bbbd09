/** What the code generator says about every call of a function that the program itself provides. */
const providedByTheProgram =
  /: A call to built-in function '(memcpy|memmove|memset|memcmp|bcmp)' is not supported\.$/;

/**
 * 128-bit arithmetic that a dependency defines and nothing calls. A call from anywhere else would
 * be reported in the calling function.
 */
const unusedDefinition = /in function __(multi3|udivti3|umodti3) /;

/**
 * The errors of the code generator that mean wrong code: everything but the false alarms above.
 * The linker must be told not to stop at any (`--fatal-errors=false`), so the build stops here.
 *
 * @param output what cargo printed, with the linker's messages
 */
export const findCodegenErrors = (output: string): string[] =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('ERROR llvm:'))
    .filter((line) => !providedByTheProgram.test(line) && !unusedDefinition.test(line));
