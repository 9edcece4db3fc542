import { describe, expect, it } from 'vitest';
import { mergeProfile, type Profile } from './profiles.ts';
import type { Block } from './source.ts';

/** Settings as written, the profile, and the result. */
const rows: readonly [what: string, written: Block, profile: Profile, counts: Block][] = [
  ['an empty profile changes nothing', { agent: { name: 'Ada' } }, {}, { agent: { name: 'Ada' } }],
  ['the profile alone', {}, { layout: 'lab' }, { agent: { layout: 'lab' } }],
  [
    'the settings win, key by key',
    { agent: { layout: 'zeus', name: 'Ada' } },
    { layout: 'lab', persona: 'wren', memory: 'off' },
    { agent: { layout: 'zeus', name: 'Ada', persona: 'wren', memory: 'off' } },
  ],
  [
    'false in the settings counts too',
    { agent: { skipContextFiles: false } },
    { skipContextFiles: true, ephemeral: 'Be brief.' },
    { agent: { skipContextFiles: false, ephemeral: 'Be brief.' } },
  ],
  [
    'keys of skills and tools are merged separately',
    { skills: { block: ['a'] }, tools: { allow: [] } },
    { skills: { block: ['b'], show: 'inline' }, tools: { allow: ['read'], block: ['exec'] } },
    {
      agent: {},
      skills: { block: ['a'], show: 'inline' },
      tools: { allow: [], block: ['exec'] },
    },
  ],
  [
    'single skills and blocks of the prompt are merged too',
    {
      agent: { context: { memory: false } },
      skills: { entries: { tea: { apiKey: 'k' }, kiln: { show: 'outline' } } },
    },
    {
      context: { memory: true, todos: false },
      skills: { entries: { tea: { show: 'inline' }, kiln: { show: 'inline' } } },
    },
    {
      agent: { context: { memory: false, todos: false } },
      skills: { entries: { tea: { apiKey: 'k', show: 'inline' }, kiln: { show: 'outline' } } },
    },
  ],
  [
    'a list replaces a list',
    { plugins: ['./mine'] },
    { plugins: ['./theirs', './more'] },
    { agent: {}, plugins: ['./mine'] },
  ],
  [
    'an empty list replaces one too',
    { plugins: [] },
    { plugins: ['./x'] },
    { agent: {}, plugins: [] },
  ],
  [
    'a model is replaced as a whole',
    { model: { provider: 'anthropic', apiKey: 'k', model: 'm' } },
    { model: { provider: 'openai', apiKey: 'l', model: 'n', vision: true } },
    { agent: {}, model: { provider: 'anthropic', apiKey: 'k', model: 'm' } },
  ],
  ['the model of the profile is used', {}, { model: 'offline' }, { agent: {}, model: 'offline' }],
  [
    'a model name is added to the provider of the settings',
    { model: { provider: 'anthropic', apiKey: 'k' } },
    { modelName: 'large' },
    { agent: {}, model: { provider: 'anthropic', apiKey: 'k', model: 'large' } },
  ],
  [
    'a named model of the settings wins',
    { model: { provider: 'anthropic', apiKey: 'k', model: 'small' } },
    { modelName: 'large' },
    { agent: {}, model: { provider: 'anthropic', apiKey: 'k', model: 'small' } },
  ],
  ['a word of the settings wins', { model: 'auto' }, { modelName: 'large' }, { model: 'auto' }],
  [
    'a value that is not a block is left to the check',
    { agent: 'Ada', skills: 5 },
    { layout: 'lab', skills: { show: 'inline' } },
    { agent: 'Ada', skills: 5 },
  ],
];

describe('settings with a profile', () => {
  it.each(rows)('[P15] %s', (_what, written, profile, counts) => {
    expect(mergeProfile(written, profile)).toEqual({ agent: {}, ...counts });
  });

  it('[P15] are merged without changing the settings or the profile', () => {
    const written = Object.freeze({ agent: Object.freeze({ name: 'Ada' }) });
    const profile = Object.freeze({ layout: 'lab', skills: Object.freeze({ block: [] }) });
    mergeProfile(written, profile);
    expect(written).toEqual({ agent: { name: 'Ada' } });
  });
});
