import type { Rule } from './rule.ts';
import { chargingRules } from './rules/charging.ts';
import { completionRules } from './rules/completions.ts';
import { failureRules } from './rules/failures.ts';
import { idempotencyRules } from './rules/idempotency.ts';
import { jobRules } from './rules/jobs.ts';
import { keyRules } from './rules/keys.ts';
import { modelRules } from './rules/models.ts';
import { surfaceRules } from './rules/surface.ts';
import { webhookRules } from './rules/webhooks.ts';

/** Every rule of the published interface, and of our choices where it is silent. */
export const rules: readonly Rule[] = [
  ...completionRules,
  ...chargingRules,
  ...failureRules,
  ...idempotencyRules,
  ...modelRules,
  ...jobRules,
  ...keyRules,
  ...webhookRules,
  ...surfaceRules,
];
