import { describe, expect, it } from 'vitest';
import { findPluginOnStack } from './plug-in.ts';

const places = [
  { use: 'dice', folder: '/srv/plugins/dice' },
  { use: 'cards', folder: '/srv/plugins/cards' },
];

function thrown(message: string, ...frames: string[]): Error {
  const error = new Error(message);
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

describe('an uncaught error', () => {
  it.each<[string, unknown, string | undefined]>([
    ['from a plugin', thrown('x', 'roll (file:///srv/plugins/cards/index.js:3:9)'), 'cards'],
    [
      'from a plugin further up the stack',
      thrown('x', 'node:net:1', '/srv/plugins/dice/a/b.js:1:1'),
      'dice',
    ],
    ['from Parley', thrown('x', 'run (file:///opt/parley/packages/agent/src/x.ts:1:1)'), undefined],
    [
      'from a folder of a similar name',
      thrown('x', '/srv/plugins/dice-game/index.js:1'),
      undefined,
    ],
    ['whose message only mentions a plugin', thrown('see /srv/plugins/dice/ at once'), undefined],
    ['without a stack', 'just words', undefined],
    ['that is undefined', undefined, undefined],
  ])('[P16] %s', (_what, error, name) => {
    expect(findPluginOnStack(error, places)).toBe(name);
  });
});
