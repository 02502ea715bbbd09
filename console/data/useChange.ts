import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { readAgain } from './queries.ts';
import type { PathOf } from './request.ts';
import { notifyTabs } from './tabs.ts';

/**
 * An action that changes something, after which what was read under these paths is read again, in
 * other tabs too. Nothing is repeated by itself: that takes another press of the button.
 */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  paths: readonly PathOf<'GET'>[],
): UseMutationResult<Result, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => {
      notifyTabs({ kind: 'changed', paths });
      return readAgain(client, paths);
    },
  });
}
