import { type BodyOf, call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';

/** Sends deliveries again: chosen ones, or all that match. */
export function useReplay() {
  return useChange(
    (body: BodyOf<'POST', '/deliveries/replay'>) => call('POST', '/deliveries/replay', { body }),
    ['/webhooks', '/deliveries', '/deliveries/:delivery_id'],
  );
}
