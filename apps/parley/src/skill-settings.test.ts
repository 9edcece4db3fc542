import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { findChosenAgent, readSettings } from './settings.ts';
import { setSkillEnabled } from './skill-settings.ts';

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-skills-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

/** Turns a skill on or off and returns the new text of the settings file. */
async function turned(
  settings: string,
  name: string,
  isOn: boolean,
  agent?: string,
): Promise<string> {
  const folder = locateDataFolder(path, {});
  writeFileSync(folder.settingsFile, settings);
  const deps = { folder, env: {}, clock: () => 0, channels: CHANNEL_DEFINITIONS };
  setSkillEnabled({ ...deps, ...findChosenAgent(readSettings(folder, {}), agent) }, name, isOn);
  return readFileSync(folder.settingsFile, 'utf8');
}

describe('a skill that is turned on or off', () => {
  it.each([
    ['skills: { block: [kiln] } # mine\n', 'tea', false, 'skills: {block: [kiln, tea]} # mine\n'],
    [
      'skills:\n  block:\n    - TEA # hot\n    - kiln\n',
      'tea',
      true,
      'skills:\n  block:\n    - kiln\n',
    ],
    ['skills: { allow: [kiln] }\n', 'tea', true, 'skills: {allow: [kiln, tea]}\n'],
    [
      'skills: { allow: [kiln], block: [kiln] }\n',
      'Kiln',
      true,
      'skills: {allow: [kiln], block: []}\n',
    ],
    ['agent: { name: Ada }\n', 'tea', true, 'agent: { name: Ada }\n'],
  ])(
    '[S09] [D12] changes only the skill lists in the settings: %j',
    async (before, name, isOn, after) => {
      expect(await turned(before, name, isOn)).toBe(after);
    },
  );

  it('[F14] [S09] changes the named agent’s own lists, which start with the inherited entries', async () => {
    const before = 'skills: { block: [kiln] }\nagents:\n  support: {}\n';
    const after = await turned(before, 'tea', false, 'support');
    expect(after).toMatch(/^skills: \{ block: \[kiln\] \}\nagents:\n +support:/);
    expect(after).toMatch(/block:\s*(?:\[|- )\s*kiln,?\s*(?:- )?tea/);
  });

  it('[P15] keeps the skills blocked that a profile blocks', async () => {
    mkdirSync(join(path, 'profiles'));
    writeFileSync(join(path, 'profiles/own.yaml'), 'skills: { block: [tarot] }\n');
    const after = await turned('agent: { profile: own }\n', 'tea', false);
    expect(after).toMatch(/block:\n +- tarot\n +- tea/);
  });
});
