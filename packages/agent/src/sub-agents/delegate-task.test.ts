import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallMoment } from '../tools/tool.ts';
import { originIn, originOfTask, withOrigin } from './delegate-task.ts';

const TEA = 'https://example.org/tea';
const moment = (change: Partial<CallMoment> = {}): CallMoment => ({
  reader: { kind: 'owner', conversationId: 'c' },
  ...{ said: [], quoted: [], results: [], untrustedText: false, ...change },
});

describe('where the task of a sub-agent comes from', () => {
  it('[G05] [G07] is what its parent knew: addresses that people named, and those of the task that a search found', () => {
    const results = [
      { tool: 'web_search', text: `1. Tea\n   ${TEA}` },
      { tool: 'web_fetch', text: 'https://example.org/x' },
    ];
    const at = moment({ said: ['look at example.net/a.'], results });
    const task = `Read ${TEA} and https://example.org/x`;
    expect(originIn(withOrigin(task, originOfTask(task, at))).named).toEqual([
      TEA,
      'example.net/a.',
      'example.net/a',
    ]);
  });

  it('[G05] [G07] is believed of the last line alone, which no task can write', () => {
    const clean = { named: [TEA], untrustedText: false };
    const dirty = { named: [], untrustedText: true };
    const words = fc.oneof(fc.string(), fc.constant(withOrigin('x', clean)));
    fc.assert(
      fc.property(words, fc.boolean(), (task, isClean) => {
        const origin = isClean ? clean : dirty;
        expect(originIn(withOrigin(task, origin))).toEqual(origin);
      }),
    );
  });

  it('[G05] [G07] is the worst where nothing is known', () => {
    expect(originIn('Read https://example.org/')).toEqual({ named: [], untrustedText: true });
    expect(originOfTask('x', undefined)).toEqual({ named: [], untrustedText: true });
  });
});
