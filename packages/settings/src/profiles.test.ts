// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { mkdirSync, writeFileSync } from 'node:fs';
import { HOSTILE_SCHEMAS } from '@parley/core/testing/hostile-schemas';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';
import { describeProblem } from './source.ts';
import {
  createSettingsFolder,
  getProblems,
  getValidSettings,
  settingsSchemas,
} from './testing/settings-folder.ts';

const { path } = createSettingsFolder();

beforeAll(() => {
  mkdirSync(path('data/profiles'), { recursive: true });
  mkdirSync(path('house'));
  writeFileSync(path('house/plain.yaml'), 'layout: parley\n');
  writeFileSync(path('house/writer.yaml'), 'layout: zeus\n');
});

/** Loads settings that name the profile `own` with the given content. */
function load(profile: string, settings = 'agent: { profile: own }', env = {}) {
  writeFileSync(path('data/profiles/own.yaml'), profile);
  writeFileSync(path('parley.yaml'), settings);
  return loadSettings({
    file: path('parley.yaml'),
    env,
    dataFolder: path('data'),
    houseProfiles: path('house'),
    ...settingsSchemas,
  });
}

describe('a settings profile', () => {
  it('[P15] sets layout, persona, format, skills, tools, plugins, memory and model', () => {
    const { settings, warnings } = getValidSettings(
      load(`
layout: lab
persona: wren
format: emotion_pipe
responseFormat: { type: object, required: [copies] }
skills: { allow: [weather], block: [tarot], show: inline }
tools: { allow: [read, grep], block: [exec] }
plugins: [./dice, { use: some-package, options: { sides: 6 } }]
memory: off
model: { provider: anthropic, apiKey: k }
skipContextFiles: true
ephemeral: Answer in one sentence.
`),
    );
    expect(warnings).toEqual([]);
    expect(settings).toMatchObject({
      agent: {
        id: 'main',
        layout: 'lab',
        persona: 'wren',
        format: 'emotion_pipe',
        responseFormat: { type: 'object', required: ['copies'] },
        memory: 'off',
        skipContextFiles: true,
        ephemeral: 'Answer in one sentence.',
      },
      skills: { allow: ['weather'], block: ['tarot'], show: 'inline', max: 150 },
      tools: { allow: ['read', 'grep'], block: ['exec'] },
      plugins: [
        { use: './dice', options: {} },
        { use: 'some-package', options: { sides: 6 } },
      ],
      model: { provider: 'anthropic', apiKey: 'k' },
    });
  });

  it('[P15] takes precedence over the defaults but not over the settings', () => {
    const settings = 'agent: { profile: own, layout: zeus }\nskills: { max: 3 }';
    const loaded = getValidSettings(
      load('layout: lab\nskills: { show: inline }', settings),
    ).settings;
    expect(loaded.agent.layout).toBe('zeus');
    expect(loaded.skills).toMatchObject({ show: 'inline', max: 3, maxFileBytes: 256_000 });
  });

  it('[P15] prefers a profile in the data folder to the built-in one', () => {
    const layout = (name: string) =>
      getValidSettings(load('layout: lab', `agent: { profile: ${name} }`)).settings.agent.layout;
    expect(layout('writer')).toBe('zeus');
    writeFileSync(path('data/profiles/writer.yaml'), 'layout: openclaw');
    expect(layout('writer')).toBe('openclaw');
  });

  it('[P15] reports a missing profile with the available ones', () => {
    const [problem] = getProblems(load('', 'agent:\n  profile: writr'));
    expect(problem).toMatchObject({
      path: 'agent.profile',
      position: { line: 2, column: 12 },
      found: '"writr"',
      nearest: 'writer',
    });
    expect(problem?.expected).toContain('one of own, plain, writer, or a file writr.yaml in');
  });

  it('[P15] reports a wrong value with file, line, value and expected value', () => {
    const [problem, ...others] = getProblems(load('layout: lab\nskills:\n  show: outlin\n'));
    expect(others).toEqual([]);
    expect(describeProblem(problem ?? never()).split('\n')).toEqual([
      `skills.show in ${path('data/profiles/own.yaml')} has a value that does not fit (line 3, column 9)`,
      '    found:    "outlin"',
      '    expected: one of outline, inline',
      '    did you mean: outline',
    ]);
  });

  it.each([
    ['persnoa: wren', 'persnoa', 'persona'],
    ['skills: { blok: [] }', 'skills.blok', 'block'],
    ['context: { memroy: false }', 'context.memroy', 'memory'],
    ['model: { provider: anthropic, apiKey: k, vison: true, apikey: l }', 'model.apikey', 'apiKey'],
    ['name: Ada', 'name', undefined],
  ])('[P15] [D12] %s warns about an unknown key', (yaml, at, nearest) => {
    const { warnings } = getValidSettings(load(yaml));
    const found = warnings.find((warning) => warning.path === at);
    expect(found).toMatchObject({ kind: 'unknown-key', file: path('data/profiles/own.yaml') });
    expect(found?.nearest).toBe(nearest);
  });

  it.each([
    ['layout: [', 'syntax', ''],
    ['layout: 5', 'value', 'layout'],
    ['plugins: ./dice', 'value', 'plugins'],
    ['tools: [read]', 'value', 'tools'],
    ['memory: sometimes', 'value', 'memory'],
    ['persona: ../../etc/passwd', 'value', 'persona'],
    ['model: { provider: nobody }', 'value', 'model.provider'],
    ['model: [x]', 'value', 'model'],
    ['ephemeral: ${NOT_SET}', 'reference', 'ephemeral'],
    ['responseFormat: yaml', 'value', 'responseFormat'],
    ['responseFormat: { type: objekt }', 'value', 'responseFormat'],
  ])('[P15] %s prevents Parley from starting', (yaml, kind, at) => {
    expect(getProblems(load(yaml))).toEqual([
      expect.objectContaining({ kind, path: at, file: path('data/profiles/own.yaml') }),
    ]);
  });

  it('[D13] [D12] prevents a start if a check of its response format could take forever', () => {
    for (const { what, schema } of HOSTILE_SCHEMAS) {
      const found = getProblems(load(JSON.stringify({ responseFormat: schema })));
      // Deep nesting is refused in part or for the whole file, depending on the stack size of this
      // thread.
      const isRefused = found.some(({ path }) => path === '' || path.startsWith('responseFormat'));
      expect([what, isRefused]).toEqual([what, true]);
    }
  });

  it('[P15] may name a model of the provider in the settings', () => {
    const settings = 'agent: { profile: own }\nmodel: { provider: named, apiKey: k }';
    expect(getValidSettings(load('model: large', settings)).settings.model).toEqual({
      provider: 'named',
      apiKey: 'k',
      model: 'large',
    });
    expect(getProblems(load('model: large'))).toEqual([
      expect.objectContaining({ kind: 'missing', path: 'model' }),
    ]);
    expect(getValidSettings(load('model: offline')).settings.model).toBe('offline');
  });

  it('[P15] reads secrets from the environment and keeps them out of logs', () => {
    const yaml = 'model: { provider: anthropic, apiKey: "${KEY}" }';
    const loaded = getValidSettings(load(yaml, undefined, { KEY: 'sk-very-secret' }));
    expect(loaded.settings.model).toMatchObject({ apiKey: 'sk-very-secret' });
    expect(loaded.secrets).toContain('sk-very-secret');
  });

  it('[P15] is not looked up if the settings do not name one', () => {
    expect(getValidSettings(load('layout: [', 'agent: {}')).settings.agent.layout).toBeUndefined();
    expect(getProblems(load('', 'agent: { profile: ../own }'))).toEqual([
      expect.objectContaining({ path: 'agent.profile' }),
    ]);
  });
});

function never(): never {
  throw new Error('expected a problem');
}
