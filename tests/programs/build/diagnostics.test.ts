import { describe, expect, it } from '@jest/globals';
import { findCodegenErrors } from '../../../programs/tools/compile.ts';

const PREFIX = 'ERROR llvm: <unknown>:0:0: in function';

describe('the output of the code generator', () => {
  it.each(['memcpy', 'memmove', 'memset', 'memcmp', 'bcmp'])(
    'is harmless about a call of %s, which the program defines',
    (name) => {
      const line = `${PREFIX} f: A call to built-in function '${name}' is not supported.`;
      expect(findCodegenErrors(line)).toEqual([]);
    },
  );

  it.each(['__multi3', '__udivti3', '__umodti3'])(
    'is harmless about a definition of %s, which nothing calls',
    (name) => {
      expect(findCodegenErrors(`${PREFIX} ${name} i128 (i128, i128): too many args`)).toEqual([]);
    },
  );

  it.each([
    `${PREFIX} process void (ptr): aggregate returns are not supported`,
    `${PREFIX} process void (ptr): A call to built-in function '__multi3' is not supported.`,
    `${PREFIX} f: A call to built-in function 'memcpy' is not supported. And more`,
    `${PREFIX} f: A call to built-in function 'memcpyx' is not supported.`,
    'ERROR llvm: Looks like the BPF stack limit is exceeded',
  ])('is an error: %s', (line) => {
    const output = ['   Compiling escrow', `   ${line}  `, 'warning: 1 message'].join('\n');
    expect(findCodegenErrors(output)).toEqual([line]);
  });

  it('contains no error when it is empty', () => {
    expect(findCodegenErrors('')).toEqual([]);
  });
});
