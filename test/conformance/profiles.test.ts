import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModelSettings } from '@parley/models';
import { getLayout } from '@parley/prompt';
import { loadSettings } from '@parley/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CONFIG = join(import.meta.dirname, '../../config');
const NAMES = readdirSync(join(CONFIG, 'profiles')).map((file) => file.replace('.yaml', ''));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-profiles-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the built-in profiles', () => {
  it('[P15] include one for each built-in layout, and others', () => {
    const houses = ['mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'];
    expect(NAMES).toEqual(expect.arrayContaining([...houses, 'assistant', 'companion']));
  });

  it.each(NAMES)('[P15] include %s, which is valid and names only existing items', (name) => {
    const { layout, persona, format } = load(`agent: { profile: ${name} }`).settings.agent;
    expect(getLayout(layout ?? '').layers.length).toBeGreaterThan(0);
    if (persona !== undefined) expect(config(`personas/${persona}.md`)).toBe(true);
    if (format !== undefined) expect(config(`output-formats/${format}.md`)).toBe(true);
  });

  it('[P15] have valid commented lines in assistant', () => {
    const written = readFileSync(join(CONFIG, 'profiles/assistant.yaml'), 'utf8');
    mkdirSync(join(folder, 'profiles'));
    const all = written.replaceAll(/^# (?=[a-zA-Z]+: )/gm, '');
    writeFileSync(join(folder, 'profiles/all.yaml'), all);
    const { settings } = load('agent: { profile: all }\nmodel: { provider: openai, apiKey: k }');
    expect(settings.agent).toMatchObject({ persona: 'wren', ephemeral: expect.any(String) });
    expect(settings.tools.block).toEqual(['exec']);
    expect(settings.plugins).toEqual([{ use: './plugins/dice', options: {} }]);
    expect(settings.model.model).toMatchObject({ provider: 'openai', model: 'name-of-the-model' });
  });
});

/** The parsed settings, in which every key must be valid. */
function load(yaml: string) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  const schemas = { modelSchema: ModelSettings, channelSchemas: {} };
  const result = loadSettings({ file, env: {}, dataFolder: folder, ...schemas });
  expect(result).toMatchObject({ kind: 'ok', warnings: [] });
  if (result.kind === 'invalid') throw new Error('unreachable');
  return result;
}

function config(file: string): boolean {
  return existsSync(join(CONFIG, file));
}
