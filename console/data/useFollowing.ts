import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { PathOf } from './request.ts';

/** Reads again what was read under these paths once a value has changed on which it depends. */
export function useFollowing(value: string | undefined, paths: readonly PathOf<'GET'>[]): void {
  const client = useQueryClient();
  const before = useRef(value);
  useEffect(() => {
    const hasChanged = before.current !== undefined && before.current !== value;
    before.current = value;
    if (!hasChanged) return;
    for (const path of paths) void client.invalidateQueries({ queryKey: [path] });
  });
}
