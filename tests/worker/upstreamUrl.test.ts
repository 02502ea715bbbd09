import { describe, expect, it } from '@jest/globals';
import { chatCompletionsUrl, modelsUrl } from '../../worker/engine/upstream.ts';

describe('the address of an upstream engine', () => {
  it.each([
    ['http://host:11434/v1', 'http://host:11434/v1/chat/completions'],
    ['http://host:11434/v1/', 'http://host:11434/v1/chat/completions'],
    ['http://host:8000', 'http://host:8000/v1/chat/completions'],
    ['https://host/openai/v1', 'https://host/openai/v1/chat/completions'],
    ['https://host/api/chat/completions', 'https://host/api/chat/completions'],
    ['https://host/v1?version=2', 'https://host/v1/chat/completions?version=2'],
  ])('%s resolves to %s', (base, expected) => {
    expect(chatCompletionsUrl(base)).toBe(expected);
  });

  it.each([
    ['http://host:11434/v1', 'http://host:11434/v1/models'],
    ['http://host:8000', 'http://host:8000/v1/models'],
    ['https://host/api/chat/completions', 'https://host/api/models'],
  ])('%s has its list of models at %s', (base, expected) => {
    expect(modelsUrl(base)).toBe(expected);
  });
});
