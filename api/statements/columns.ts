/** Rows as columns, which is how arrays of parameters are given. */
export function transpose<Value>(rows: readonly (readonly Value[])[], width: number): Value[][] {
  return Array.from({ length: width }, (_, place) => rows.map((row) => row[place] as Value));
}
