/** Undelivered: its webhook was not active, so it is not sent unless it is replayed. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'undelivered'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
