/** There is no such webhook, or no such delivery of it. */
export class WebhookNotFoundError extends Error {
  override name = 'WebhookNotFoundError';
}

/** The webhook was disabled by its owner: nothing is sent to it until it is enabled. */
export class WebhookDisabledError extends Error {
  override name = 'WebhookDisabledError';
}

export function notFound(webhookId: string): WebhookNotFoundError {
  return new WebhookNotFoundError(`There is no webhook ${webhookId}.`);
}
