export const SECOND_LIST: Readonly<Record<string, readonly string[]>>;
export function leftOutOf(list: string | undefined): string[];
