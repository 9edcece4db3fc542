// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createSettingsFolder,
  getAccountProblems,
  getProblems,
  getValidSettings,
} from './testing/settings-folder.ts';

const { load, path } = createSettingsFolder();

describe('loadSettings with references', () => {
  it('[D12] replaces variables, alone or within a text, and keeps an escaped ${', () => {
    const yaml = 'agent: { name: "${A}-${B:-two}", role: "$${A}", emoji: "${C:-x}" }\n';
    const { settings } = getValidSettings(load(yaml, { A: 'one', C: '' }));
    expect(settings.agent).toMatchObject({ name: 'one-two', role: '${A}', emoji: 'x' });
  });

  it('[D12] reads numbers and booleans from the environment where they are expected', () => {
    const yaml = `http: { port: "\${PORT}" }
channels: { telegram: { enabled: "\${ON}", token: "\${T}", pollSeconds: "\${S:-7}", silent: "\${Q}" } }`;
    const { settings, channels } = getValidSettings(
      load(yaml, { PORT: '8080', ON: 'true', T: '1234567890', Q: 'TRUE' }),
    );
    expect(settings.http.port).toBe(8080);
    expect(channels['telegram/default']).toMatchObject({
      settings: { token: '1234567890', pollSeconds: 7, silent: true },
    });
  });

  it('[D12] reports a missing variable at its position, and suggests the variable that was probably intended', () => {
    const result = load('http:\n  host: "${HOSTT}"\n', { HOST: 'x' });
    expect(getProblems(result)).toEqual([
      {
        kind: 'reference',
        path: 'http.host',
        position: { line: 2, column: 9 },
        found: '${HOSTT}',
        expected: 'the environment variable HOSTT to be set',
        nearest: 'HOST',
      },
    ]);
  });

  it.each([
    ['${EMPTY}', 'EMPTY not to be empty'],
    ['${}', 'write $${ for a literal'],
    ['${a b}', 'write $${ for a literal'],
    ['${OPEN', 'write $${ for a literal'],
    ['${file:/nonexistent/secret}', 'the file /nonexistent/secret to exist'],
    ['${file:/}', 'is a directory'],
    ['${toString}', 'toString to be set'],
  ])('[D12] explains %s', (reference, words) => {
    const [problem, ...more] = getProblems(load(`http: { host: '${reference}' }`, { EMPTY: '' }));
    expect(problem).toMatchObject({ kind: 'reference', path: 'http.host', found: reference });
    expect(problem?.expected).toContain(words);
    expect(more).toEqual([]);
  });

  it('[D12] shows only the references of a secret', () => {
    const yaml = 'channels: { telegram: { token: "12345:abc${NOT_SET}def" } }';
    expect(getAccountProblems(load(yaml), 'telegram/default')[0]?.found).toBe('…${NOT_SET}…');
  });

  it('[D12] reads secret files next to the settings, trimmed', () => {
    writeFileSync(path('token.txt'), '123456:from-a-file\n');
    const result = getValidSettings(load('channels: { telegram: { token: "${file:token.txt}" } }'));
    expect(result.channels['telegram/default']).toMatchObject({
      settings: { token: '123456:from-a-file' },
    });
    expect(result.secrets).toEqual(['123456:from-a-file']);
  });

  it('[D10] collects secrets: values that are named like secrets, look like secrets and come from outside, and passwords in URLs', () => {
    const yaml = `
agent: { name: "\${NAME}" }
queue: { url: "redis://user:red%40pass@localhost", password: own-pass, sentinel: { nodes: [a], password: asked } }
store: { url: "postgres://u:\${PG}@localhost/db" }
model: { provider: local, baseUrl: "http://x", apiKey: in-the-file }
channels: { telegram: { token: "1234567890", apiRoot: "\${ROOT}" } }`;
    const result = getValidSettings(
      load(yaml, { NAME: 'Ada', PG: 'pg-pass', ROOT: 'https://root.example' }),
    );
    expect(result.secrets.toSorted()).toEqual([
      '1234567890',
      'asked',
      'in-the-file',
      'own-pass',
      'pg-pass',
      'red%40pass',
      'red@pass',
    ]);
  });
});
