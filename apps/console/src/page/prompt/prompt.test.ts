import type { Audience, UnsentLayer } from '@parley/core';
import type { PartComparison } from '@parley/prompt';
import { describe, expect, it } from 'vitest';
import { splitTextSegments } from './comparison.tsx';
import { describeUnsentLayer, getAudienceName } from './layers.tsx';

describe('prompts on the page', () => {
  it.each<[string, Audience | undefined]>([
    ['everyone', { kind: 'everyone' }],
    ['this chat', { kind: 'conversation', conversationId: 'c' }],
    ['owner', { kind: 'owner' }],
    ['owner', undefined],
  ])(
    '[P17] [W02] says who may see a layer: %s; an unknown audience counts as private',
    (name, audience) => {
      expect(getAudienceName(audience)).toBe(name);
    },
  );

  it.each<[UnsentLayer, string]>([
    [{ layer: 'a', placement: 'system', outcome: 'absent', reason: 'no file' }, 'no file'],
    [
      {
        layer: 'b',
        placement: 'system',
        outcome: 'withheld',
        source: 'MEMORY.md',
        audience: { kind: 'owner' },
      },
      'withheld: MEMORY.md is for owner, not for the sender',
    ],
    [
      { layer: 'c', placement: 'system', outcome: 'failed', reason: 'it broke' },
      'failed: it broke',
    ],
  ])('[P17] explains why a layer was left out: %o', (unsent, reason) => {
    expect(describeUnsentLayer(unsent)).toBe(reason);
  });

  it('[P17] marks where the shared prefix ends, even within a line', () => {
    const part: PartComparison = {
      layer: 'l',
      placement: 'system',
      change: 'changed',
      pieces: [
        { kind: 'same', text: 'day\n' },
        { kind: 'removed', text: '14:05\n' },
        { kind: 'added', text: '14:06\n' },
        { kind: 'same', text: 'zone' },
      ],
      shared: 8,
    };
    expect(splitTextSegments(part)).toEqual([
      { kind: 'same', text: 'day\n', shared: true },
      { kind: 'removed', text: '14:0', shared: true },
      { kind: 'removed', text: '5\n', shared: false },
      { kind: 'added', text: '14:0', shared: true },
      { kind: 'added', text: '6\n', shared: false },
      { kind: 'same', text: 'zone', shared: false },
    ]);
  });
});
