import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSettings } from './document.ts';
import { createSettingsTemplate, writeSettingsTemplate } from './load-settings.ts';
import { SettingsError } from './settings-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-template-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the settings template', () => {
  it('[D12] does not change anything, because every setting except the version is commented out', () => {
    const document = parseSettings(createSettingsTemplate());
    expect(document.kind === 'document' && document.value).toEqual({ version: 2 });
    expect(createSettingsTemplate()).toMatch(/^version: 2 # Parley \d+\.\d+\.\d+$/m);
  });

  it('is written so that only its owner can read it, together with the schema named in its first line', () => {
    const file = join(folder, 'parley.yaml');
    writeSettingsTemplate(file);
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    const [, schema = ''] = /^# yaml-language-server: \$schema=\.\/(\S+)$/.exec(first) ?? [];
    expect(readdirSync(folder).toSorted()).toEqual([schema, 'parley.yaml'].toSorted());
    expect(JSON.parse(readFileSync(join(folder, schema), 'utf8'))).toHaveProperty(
      'properties.agent',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('never overwrites existing settings', () => {
    const file = join(folder, 'parley.yaml');
    writeFileSync(file, 'mine: true');
    expect(() => writeSettingsTemplate(file)).toThrow(SettingsError);
    expect(readFileSync(file, 'utf8')).toBe('mine: true');
  });

  it('reports when the location is not writable', () => {
    expect(() => writeSettingsTemplate(join(folder, 'none', 'parley.yaml'))).toThrow(
      /cannot be written.*--config/,
    );
  });
});
