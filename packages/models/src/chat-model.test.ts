import { describe, expect, it } from 'vitest';
import { parseToolArguments } from './chat-model.ts';

describe('the arguments of a tool call', () => {
  it.each<[string, object | null]>([
    ['{"path":"a.md"}', { path: 'a.md' }],
    ['', {}],
    [' ', {}],
    ['{"path":"a.md"', null],
    ['path=a.md', null],
    ['["a.md"]', null],
    ['null', null],
    ['"a.md"', null],
  ])('[G01] parses %j', (written, expected) => {
    expect(parseToolArguments({ arguments: written })).toEqual(expected);
  });
});
