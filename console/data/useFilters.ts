import { useLocation, useSearch } from 'wouter';

type Values<Name extends string> = { readonly [Key in Name]?: string | undefined };
export type ChangeFilters<Name extends string> = (changes: Values<Name>) => void;

/** The filters of a list in the page's address, so that they can be shared and survive a reload. */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [{ readonly [Key in Name]?: string }, ChangeFilters<Name>] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const filters: { [Key in Name]?: string } = {};
  for (const name of names) {
    const value = given.get(name);
    if (value) filters[name] = value;
  }
  const change: ChangeFilters<Name> = (changes) => {
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filters, ...changes })) {
      if (typeof value === 'string' && value !== '') next.set(name, value);
    }
    navigate(`${path}${next.size > 0 ? `?${next}` : ''}`, { replace: true });
  };
  return [filters, change];
}

/** @returns what the field of a filter needs, by the filter's name and the field's label */
export const filterField =
  <Name extends string>(filters: Values<Name>, onChange: ChangeFilters<Name>) =>
  (name: Name, label: string) => ({
    label,
    value: filters[name] ?? '',
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange({ [name]: target.value.trim() } as Values<Name>),
  });

/** A day or minute of UTC, as it stands in the page's address and in a field. */
export const fieldTime = (time: string | undefined): string =>
  time?.replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00').replace(/(T\d\d:\d\d).*$/, '$1') ?? '';

/** The same as the API takes it. */
export const isoTime = (time: string): string => `${fieldTime(time)}:00Z`;
