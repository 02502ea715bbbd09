import { useLocation, useSearch } from 'wouter';

/** The filters of a list in the page's address, so that they can be shared and survive a reload. */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [
  { readonly [Key in Name]?: string },
  (changes: { [Key in Name]?: string | undefined }) => void,
] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const filters: { [Key in Name]?: string } = {};
  for (const name of names) {
    const value = given.get(name);
    if (value) filters[name] = value;
  }
  const change = (changes: { [Key in Name]?: string | undefined }) => {
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filters, ...changes })) {
      if (typeof value === 'string' && value !== '') next.set(name, value);
    }
    navigate(`${path}${next.size > 0 ? `?${next}` : ''}`, { replace: true });
  };
  return [filters, change];
}
