import { afterEach, describe, expect, it } from '@jest/globals';
import NativeEnvironment from '../../testing/jest/nativeEnvironment.ts';

const open = () =>
  new NativeEnvironment({ projectConfig: { fakeTimers: { enableGlobally: false } } });

afterEach(() => {
  delete process.env.SVC_LEFT;
});

describe('the environment of a test file', () => {
  it('gives the process back the settings that it had', async () => {
    process.env.SVC_LEFT = 'before';
    const environment = open();
    process.env.SVC_LEFT = 'changed';
    process.env.SVC_ADDED = 'added';
    await environment.teardown();
    expect(process.env).toMatchObject({ SVC_LEFT: 'before' });
    expect(process.env).not.toHaveProperty('SVC_ADDED');
  });

  it('gives the process back its clock, its exit and what was spied upon', async () => {
    const { setTimeout: timer } = globalThis;
    const { exit } = process;
    const { now } = performance;
    const environment = open();
    environment.fakeTimersModern.useFakeTimers();
    environment.moduleMocker.spyOn(performance, 'now').mockReturnValue(1);
    process.exit = (() => undefined) as never;
    expect(globalThis.setTimeout).not.toBe(timer);
    await environment.teardown();
    expect(globalThis.setTimeout).toBe(timer);
    expect(performance.now).toBe(now);
    expect(process.exit).toBe(exit);
  });
});
