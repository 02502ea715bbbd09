/** Sent at its owner's wish, to see that a webhook works. Nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test';
