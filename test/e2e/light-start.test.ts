import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BYTES_AT_START, FILES_AT_START, FILES_OF_COMMANDS } from '../cost/bounds.ts';
import { type LoadedModules, listModulesOfCommand, listModulesOfStart } from './loaded-modules.ts';
import { makeDataFolder } from './parley-process.ts';

const data = makeDataFolder({ http: { port: 0 } });
let loaded: LoadedModules;
beforeAll(async () => {
  // The first start creates the workspace; the second is the usual one.
  await listModulesOfStart(data.path);
  loaded = await listModulesOfStart(data.path);
});
afterAll(() => data.remove());

describe('startup with default settings', () => {
  it.each([
    ['[F03] the library of Discord', /node_modules\/@?discord\.?js/],
    ['[F03] the library of Telegram', /node_modules\/telegraf\//],
    ['[F03] the library of WhatsApp', /node_modules\/(@whiskeysockets|libsignal)\//],
    ['[D09] the library of Redis', /node_modules\/(ioredis|@redis)\//],
    ['[D09] the library of PostgreSQL', /node_modules\/pg\//],
    ['[G01] the libraries of models', /node_modules\/(ai|@ai-sdk)\//],
    [
      '[G03] what talks to MCP servers',
      /node_modules\/@modelcontextprotocol\/|packages\/tools\/src\/mcp\//,
    ],
    ['[P16] what loads plugins', /packages\/plugins\//],
    ['[M01] what parses and prints Markdown', /node_modules\/(mdast|micromark|unist)-?/],
    [
      '[F10] what reads documents',
      /node_modules\/(unpdf|fflate|read-excel-file)|packages\/tools\/src\/documents\/(office|extract-text|read-in-process)/,
    ],
    ['[G06] what runs commands', /packages\/tools\/src\/sandbox\//],
    ['[G02] what reads web pages', /node_modules\/(linkedom|turndown|@mozilla)/],
  ])('does not load %s', (_what, pattern) => {
    expect(loaded.sources.filter((path) => pattern.test(path))).toEqual([]);
  });

  it("does not load Node's fetch, which takes 16 MB", () => {
    expect(loaded.ofNode.filter((name) => name.includes('undici'))).toEqual([]);
  });

  it(`[D16] [U06] loads at most ${FILES_AT_START} files, all from the bundle`, () => {
    expect(loaded.sources.some((path) => path.includes('/packages/prompt/'))).toBe(true);
    expect(loaded.files.filter((url) => /\/(packages|node_modules)\//.test(url))).toEqual([]);
    expect(loaded.files.length).toBeLessThanOrEqual(FILES_AT_START);
    expect(loaded.size).toBeLessThanOrEqual(BYTES_AT_START);
  });
});

describe('a command without a gateway', () => {
  it.each(Object.entries(FILES_OF_COMMANDS).filter((_, nth) => isDueToday(nth, 3)))(
    '[U06] loads its own group of operations and no web framework: parley %s, at most %i files',
    async (command, most) => {
      const { files, sources } = await listModulesOfCommand(data.path, ...command.split(' '));
      expect(sources.filter((path) => /node_modules\/(@hono|hono)\//.test(path))).toEqual([]);
      expect(files.length).toBeLessThanOrEqual(most);
    },
  );
});
