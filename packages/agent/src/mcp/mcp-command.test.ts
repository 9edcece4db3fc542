import { describe, expect, it } from 'vitest';
import { parsePromptCommand, promptArguments, promptCommand } from './mcp-prompts.ts';

const TWO = {
  name: 'args-prompt',
  description: '',
  arguments: [
    { name: 'city', required: true },
    { name: 'state', required: false },
  ],
};

describe('[G03] picking a prompt', () => {
  it.each([
    ['/mcp__every__args-prompt city=Rome', 'every', 'args-prompt', 'city=Rome'],
    [' /MCP__Every__simple@parley_bot\n', 'every', 'simple', ''],
  ])('is seen in %j', (text, server, prompt, rest) => {
    expect(parsePromptCommand(text)).toEqual({ server, prompt, rest });
  });

  it.each(['/mcp', '/mcp__every', 'see /mcp__a__b', '/mcp__a__b/c', ''])(
    'is not seen in %j',
    (text) => {
      expect(parsePromptCommand(text)).toBeNull();
    },
  );

  it.each([
    ['city=Rome state="New York"', { city: 'Rome', state: 'New York' }, []],
    ['Rome in May', { city: 'Rome in May' }, []],
    ['state=NY other=x', { state: 'NY' }, ['city']],
    ['', {}, ['city']],
  ])('takes %j', (words, values, missing) => {
    expect(promptArguments(TWO, words)).toEqual({ values, missing });
  });

  it('says what to type', () => {
    expect(promptCommand('every', TWO)).toBe('/mcp__every__args-prompt city=… state=…');
    expect(promptCommand('every', { ...TWO, name: 'no way' })).toBeNull();
  });
});
