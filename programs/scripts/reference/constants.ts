import type { RustSource } from './rustSource.ts';

/** The value of a constant of the program, if it is a number made of numbers. */
export const evaluate = (source: RustSource, name: string): bigint | undefined => {
  const written = source.constant(name)?.replace(/ as \w+/g, '');
  if (written === undefined) return undefined;
  const factors = written.split(' + ').map((sum) => sum.split(' * '));
  let total = 0n;
  for (const product of factors) {
    let value = 1n;
    for (const factor of product) {
      const digits = factor.replaceAll('_', '');
      const number = /^\d+$/.test(digits) ? BigInt(digits) : evaluate(source, factor.trim());
      if (number === undefined) return undefined;
      value *= number;
    }
    total += value;
  }
  return total;
};

/** The constants that an expression names and whose value is a number. */
export const constantsIn = (source: RustSource, expression: string): Map<string, bigint> =>
  new Map(
    [...expression.matchAll(/\b[A-Z][A-Z_]+\b/g)].flatMap(([name]): [string, bigint][] => {
      const value = evaluate(source, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
