import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseEnvironment } from '../../common/config.ts';
import { databaseUrlSetting, httpUrlSetting, websocketUrlSetting } from '../../common/net/urls.ts';

const settings = z.object({
  DATABASE_URL: databaseUrlSetting.optional(),
  SOLANA_RPC_URL: httpUrlSetting.optional(),
  SOLANA_WS_URL: websocketUrlSetting.optional(),
});

describe('an address setting', () => {
  it.each([
    ['DATABASE_URL', 'garbage'],
    ['DATABASE_URL', 'mysql://user:secret@database/svc'],
    ['DATABASE_URL', 'postgres://user:se#cret@database/svc'],
    ['SOLANA_RPC_URL', 'ftp://secret.example.com'],
    ['SOLANA_RPC_URL', 'localhost:8899'],
    ['SOLANA_WS_URL', 'http://secret.example.com'],
  ] as const)('is refused with its name but without its value: %s=%s', (name, value) => {
    const parse = () => parseEnvironment(settings, { [name]: value });
    expect(parse).toThrow(`${name}: must be a URL that begins with`);
    expect(parse).not.toThrow(/secret|garbage|localhost/);
  });

  it.each([
    ['DATABASE_URL', 'postgres://user:se%23cret@10.0.0.5:5432/svc?sslmode=require'],
    ['DATABASE_URL', 'postgresql://user@[::1]/svc'],
    ['DATABASE_URL', 'postgres:///svc?host=/var/run/postgresql'],
    ['SOLANA_RPC_URL', 'https://rpc.example.com/?api-key=x'],
    ['SOLANA_RPC_URL', 'http://[::1]:8899'],
    ['SOLANA_WS_URL', 'wss://rpc.example.com/?api-key=x'],
  ] as const)('is accepted unchanged: %s=%s', (name, value) => {
    expect(parseEnvironment(settings, { [name]: value })).toEqual({ [name]: value });
  });
});
