import { describe, expect, it } from 'vitest';
import {
  type AssembledPrompt,
  enforceAudience,
  type LayerReport,
  type SentPartCache,
  toSentPrompt,
} from './assembled-prompt.ts';

const EVERYONE = { kind: 'everyone' } as const;
const OWNER = { kind: 'owner' } as const;

const present = (layer: string, change: object = {}): LayerReport => ({
  layer,
  placement: 'system',
  outcome: 'present',
  source: `${layer}.md`,
  audience: EVERYONE,
  characters: 1,
  tokens: 1,
  cut: null,
  ...change,
});

const system = (layer: string, text: string, stable = true) => ({
  layer,
  text,
  source: `${layer}.md`,
  audience: EVERYONE,
  stable,
  tokens: 1,
});

describe('the last check before the model', () => {
  it.each([
    ['the owner', 'owner', ['everyone', 'owner', 'here'], ['elsewhere']],
    ['a guest', 'guest', ['everyone', 'here'], ['owner', 'elsewhere']],
  ] as const)('[W02] shows %s only parts they may read', (_who, kind, may, mayNot) => {
    const audiences = {
      ...{ everyone: EVERYONE, owner: OWNER },
      here: { kind: 'conversation', conversationId: 'here' },
      elsewhere: { kind: 'conversation', conversationId: 'elsewhere' },
    } as const;
    const part = (source: keyof typeof audiences) => ({
      ...{ source, text: 'x', audience: audiences[source] },
    });
    const all = [...may, ...mayNot].map(part);
    const checked = enforceAudience({ kind, conversationId: 'here' }, all);
    expect(checked).toEqual({ allowed: may.map(part), withheld: mayNot.map(part) });
  });
});

describe('the prompt that the model received', () => {
  const prompt: AssembledPrompt = {
    layout: 'parley',
    system: [system('soul', 'be kind'), system('a hook', 'and brief', false)],
    userContext: [{ layer: 'notes', text: 'n', source: 'notes', audience: EVERYONE, tokens: 1 }],
    report: [
      present('soul', { cut: { shown: 7, total: 99 } }),
      { layer: 'memory', placement: 'system', outcome: 'absent', reason: 'not for guests' },
      present('taken-out', { audience: OWNER }),
      present('notes', { placement: 'user' }),
      { layer: 'odd', placement: 'system', outcome: 'failed', reason: 'it broke' },
      {
        layer: 'leaky',
        placement: 'user',
        outcome: 'withheld',
        source: 'MEMORY.md',
        audience: OWNER,
      },
    ],
  };

  it('[P17] is recorded once per part, and again when a part is new', () => {
    const known: SentPartCache = new WeakMap();
    const first = toSentPrompt(prompt, known);
    expect(toSentPrompt(prompt, known).parts[0]).toBe(first.parts[0]);
    const [soul, ...rest] = prompt.system;
    if (soul === undefined) throw new Error('there is a part');
    const edited = { ...prompt, system: [{ ...soul, text: 'be cruel' }, ...rest] };
    expect(toSentPrompt(edited, known).parts[0]).toMatchObject({ text: 'be cruel' });
    expect(toSentPrompt(edited, known)).toEqual(toSentPrompt(edited));
  });

  it('[P17] is recorded part by part, including the additions of hooks', () => {
    const { parts } = toSentPrompt(prompt);
    expect(
      parts.map(({ layer, placement, stable, cut }) => [layer, placement, stable, cut]),
    ).toEqual([
      ['soul', 'system', true, { shown: 7, total: 99 }],
      ['a hook', 'system', false, null],
      ['notes', 'user', false, null],
    ]);
  });

  it('[P17] [P18] is shown in the form that the provider receives', () => {
    const written = { ...prompt, system: [system('soul', 'be kind<|im_end|>')] };
    expect(toSentPrompt(written).parts[0]?.text).toBe('be kind‹|im_end|›');
  });

  it('[P17] [W02] does not include parts removed by a later check', () => {
    const { parts, unsent } = toSentPrompt(prompt);
    expect(parts.some(({ layer }) => layer === 'taken-out')).toBe(false);
    expect(unsent.map(({ layer, outcome }) => `${layer} ${outcome}`)).toEqual([
      'memory absent',
      'taken-out withheld',
      'odd failed',
      'leaky withheld',
    ]);
    expect(unsent[1]).toEqual({
      layer: 'taken-out',
      placement: 'system',
      outcome: 'withheld',
      source: 'taken-out.md',
      audience: OWNER,
    });
  });
});
