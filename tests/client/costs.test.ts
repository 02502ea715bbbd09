import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { COSTS } from '../../programs/client/sender/costs.ts';

const TABLE = new URL('../../programs/escrow/compute-units.json', import.meta.url);

describe('the compute units that an instruction is given', () => {
  it.each(Object.entries(COSTS))('are 1.15 times the measured ones of %s', (name, cost) => {
    const measured: Record<string, number> = JSON.parse(readFileSync(TABLE, 'utf8'));
    expect(cost.computeUnits).toBe(Math.ceil(1.15 * Number(measured[name])));
  });
});
