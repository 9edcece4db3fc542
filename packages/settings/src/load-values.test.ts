// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like that.
import { describe, expect, it } from 'vitest';
import { createSettingsFolder, getProblems, getValidSettings } from './testing/settings-folder.ts';

const { load } = createSettingsFolder();

describe('loadSettings with wrong values', () => {
  it('[D12] reports path, position, value, expected value and the nearest valid value', () => {
    expect(getProblems(load('log:\n  level: inof\nhttp: { port: 99999 }\n'))).toEqual([
      {
        kind: 'value',
        path: 'log.level',
        position: { line: 2, column: 10 },
        found: '"inof"',
        expected: 'one of debug, info, warn, error, silent',
        nearest: 'info',
      },
      {
        kind: 'value',
        path: 'http.port',
        position: { line: 3, column: 15 },
        found: '99999',
        expected: 'a number of at most 65535',
      },
    ]);
  });

  it.each([
    ['agent: { timeZone: Europe/Berln }', 'agent.timeZone', 'Europe/Berlin'],
    ['model: auot', 'model', 'auto'],
    ['model: { provider: antropic, apiKey: x }', 'model.provider', 'anthropic'],
    ['lanes: { busy: collct }', 'lanes.busy', 'collect'],
  ])('[D12] %s: finds the intended value at %s', (yaml, path, meant) => {
    expect(getProblems(load(yaml))).toEqual([expect.objectContaining({ path, nearest: meant })]);
  });

  it.each([
    ['http: 7411', 'http', 'a block of `key: value` lines'],
    ['owners: [{ telegram: 1 }]', 'owners[0]', 'channel:userId without a space'],
    ['owners: [42]', 'owners[0]', 'channel:userId'],
    ['channels: [telegram]', 'channels', 'a block of channels'],
    ['limits: { messageCharacters: 1.5 }', 'limits.messageCharacters', 'a whole number'],
    ['queue: { url: "http://x" }', 'queue.url', 'a Redis URL'],
    ['queue: { url: "redis://x", prefix: "{a}" }', 'queue.prefix', 'letters, digits'],
    [
      'queue: { url: "redis://x", cluster: { nodes: ["a b"] } }',
      'queue.cluster.nodes[0]',
      'host:port',
    ],
    [
      'queue: { url: "redis://x", cluster: { nodes: ["redis://y"] } }',
      'queue.cluster.nodes[0]',
      'host:port',
    ],
    ['queue: { url: "redis://x", sentinel: { name: m } }', 'queue.sentinel.nodes', 'a list'],
    ['queue: { sentinel: { nodes: ["a:26379"] } }', 'queue.url', 'a Redis URL'],
    [
      'queue: { url: "redis://x", cluster: {}, sentinel: { nodes: [a] } }',
      'queue.sentinel',
      'nothing',
    ],
    ['model: { provider: anthropic }', 'model.apiKey', 'text'],
    ['model: 5', 'model', 'one of auto, offline, or a block'],
    ['agent: { layout: neomagy }', 'agent.layout', 'one of parley, mushroom, lab, zeus, openclaw'],
    ['model: {}', 'model.provider', 'one of local, anthropic'],
    ['approvals: { auto: ["exec:"] }', 'approvals.auto[0]', 'tool:pattern on a single line'],
    ['approvals: { auto: ["git status*"] }', 'approvals.auto[0]', 'tool:pattern on a single line'],
    ['approvals: { auto: ["exec:a\\nb*"] }', 'approvals.auto[0]', 'tool:pattern on a single line'],
    [
      `approvals: { auto: ["exec:${'*a'.repeat(250)}"] }`,
      'approvals.auto[0]',
      'at most 500 characters',
    ],
  ])('[D12] %s: reports at %s that it expects %s', (yaml, path, expected) => {
    const found = getProblems(load(yaml));
    expect(found).toEqual([expect.objectContaining({ path })]);
    expect(found[0]?.expected).toContain(expected);
  });

  it('[D12] never shows a secret, at any path', () => {
    const result = load(
      'model: { provider: antropic, apiKey: [sk-very-secret] }\nowners: ["${K}"]',
      {
        K: 'sk-env-secret',
      },
    );
    const text = JSON.stringify(getProblems(result));
    expect(text).not.toContain('very-secret');
    expect(text).not.toContain('env-secret');
    expect(result.secrets).toEqual(expect.arrayContaining(['sk-very-secret', 'sk-env-secret']));
  });

  it('[D12] reports broken channels even if the core is invalid, so that a person can fix all problems together', () => {
    const paths = getProblems(load('log: 1\nchannels: { telegram: {} }')).map((p) => p.path);
    expect(paths).toEqual(['log', 'channels.telegram.token']);
  });
});

describe('loadSettings with unknown keys', () => {
  it.each([
    ['lgo: { level: debug }', 'lgo', 'log'],
    ['agent: { nmae: Ada }', 'agent.nmae', 'name'],
    ['agent: { time_zone: UTC }', 'agent.time_zone', 'timeZone'],
    ['channels: { telegrm: { token: 1 } }', 'channels.telegrm', 'telegram'],
    ['channels: { web: { tilte: x } }', 'channels.web.tilte', 'title'],
    ['channels: { web: { acces: { direct: open } } }', 'channels.web.acces', 'access'],
    ['channels: { web: { access: { drect: open } } }', 'channels.web.access.drect', 'direct'],
    [
      'channels: { web: { accounts: { a: { titel: x } } } }',
      'channels.web.accounts.a.titel',
      'title',
    ],
    ['model: { provider: anthropic, apiKey: k, apiKeyy: x }', 'model.apiKeyy', 'apiKey'],
  ])('[D12] warns about %s and suggests the nearest key', (yaml, path, meant) => {
    const { warnings } = getValidSettings(load(yaml));
    expect(warnings).toEqual([
      expect.objectContaining({ kind: 'unknown-key', path, nearest: meant }),
    ]);
  });

  it.each([
    ['model: { providr: ollama }', 'model.providr', 'provider'],
    ['model: { provider: anthropic, apiKy: k }', 'model.apiKy', 'apiKey'],
  ])('[D12] %s: reports the typo instead of the missing key', (yaml, path, meant) => {
    expect(getProblems(load(yaml))).toEqual([
      expect.objectContaining({ kind: 'unknown-key', path, nearest: meant }),
    ]);
  });

  it('[D12] warns without a suggestion if no key is similar, and never resolves a reference there', () => {
    const { warnings } = getValidSettings(load('zebra: "${NOT_SET}"\n'));
    expect(warnings).toEqual([
      expect.objectContaining({ path: 'zebra', position: { line: 1, column: 1 } }),
    ]);
    expect(warnings[0]).not.toHaveProperty('nearest');
  });

  it('[D12] is not confused by keys with a meaning in JavaScript', () => {
    const yaml =
      '__proto__: { port: 1 }\nconstructor: 1\nchannels: { toString: {}, __proto__: {} }\n';
    const { warnings } = getValidSettings(load(yaml));
    expect(warnings.map((warning) => warning.path)).toEqual([
      '__proto__',
      'constructor',
      'channels.toString',
      'channels.__proto__',
    ]);
  });
});
