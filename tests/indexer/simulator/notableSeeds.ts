/** Runs that find a fault which the mirror had, or was given to see whether it is found. */
export const NOTABLE_SEEDS: readonly { readonly seed: number; readonly finds: string }[] = [
  // Given: also gaps that stay open.
  { seed: 1, finds: 'a cursor that passes what is not stored yet' },
  // Had: what was stored from the abandoned fork was taken for what landed again in another slot.
  { seed: 3, finds: 'a transaction that vanished, and one that landed again' },
  // Had: without the purchase that had ended it, the same alert was given again.
  { seed: 24, finds: 'an alert that a vanished purchase had ended' },
  // Had: a page ended in the middle of a slot, and the next node had the rest of it before that.
  { seed: 1107, finds: 'a slot that is listed in another order where a page ends' },
  // Given: announcing once the database transaction that stores has ended.
  { seed: 405_771, finds: 'a transaction that is stored without being announced' },
];
