import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { combineParts } from './plugin.ts';
import {
  createPluginFolder,
  createPluginSource,
  getLoadedPlugin,
  getPluginFailureReason,
} from './testing/plugin-folder.ts';

const { load, path, write } = createPluginFolder();

const GOOD = createPluginSource('good', "return { hooks: [{ id: 'nod' }] }");

/** The source code of a layer in a plain JavaScript plugin. */
const layer = (id: string) =>
  `{ id: '${id}', volatility: 'static', placement: 'system', render: () => ({ absent: 'x' }) }`;
const tool = (name: string, input = 'z.object({})') =>
  `{ name: '${name}', summary: 'Does it.', tier: 'middleware', effect: 'read', audience: 'everyone',
     approval: 'never', input: ${input}, run: async () => ({ text: '' }) }`;
const ZOD = `import { z } from '${import.meta.resolve('zod')}';\n`;
const channel = (id: string, settings = 'z.strictObject({})') =>
  `{ id: '${id}', settings: ${settings}, load: async () => {} }`;

describe('a plugin that imports parley/plugin', () => {
  it('[P16] gets the module of the running Parley, even if it is linked to another installation', async () => {
    const other = { name: 'parley', type: 'module', exports: { './plugin': './plugin.js' } };
    write('linked/node_modules/parley/package.json', JSON.stringify(other));
    write('linked/node_modules/parley/plugin.js', "throw new Error('the other Parley');");
    write(
      'linked/index.js',
      `import { definePlugin, z } from 'parley/plugin';
       const options = z.strictObject({ sides: z.int().default(6) });
       export const plugin = definePlugin({ name: 'linked', options, setup: () => ({}) });`,
    );
    const { outcomes } = await load(['./linked']);
    expect(outcomes.map((outcome) => getLoadedPlugin(outcome).name)).toEqual(['linked']);
  });
});

describe('looking up a plugin', () => {
  it('[P16] accepts a folder with an index file, relative to the settings file', async () => {
    write('good/index.js', GOOD);
    const { outcomes, lines } = await load(['./good', path('good')]);
    expect(getLoadedPlugin(outcomes[0]).parts.hooks).toEqual([{ id: 'nod' }]);
    expect(getPluginFailureReason(outcomes[1])).toContain('already loaded from ./good');
    expect(lines).toHaveLength(1);
  });

  it('[P16] accepts an installed package, by its package.json', async () => {
    const manifest = { name: '@me/pack', exports: { '.': { import: './lib/main.mjs' } } };
    write('node_modules/@me/pack/package.json', JSON.stringify(manifest));
    write('node_modules/@me/pack/lib/main.mjs', createPluginSource('pack', 'return {}'));
    write('node_modules/old/package.json', '{ "main": "old.mjs" }');
    write('node_modules/old/old.mjs', 'export default { name: "old", setup: () => ({}) }');
    const { outcomes } = await load(['@me/pack', 'old']);
    expect(outcomes.map((outcome) => getLoadedPlugin(outcome).name)).toEqual(['pack', 'old']);
  });

  it('[P16] follows a symbolic link, as npm creates for packages in development', async () => {
    write(
      'elsewhere/index.ts',
      `const name: string = 'linked'; ${createPluginSource('linked', 'return {}')}`,
    );
    write('node_modules/.keep', '');
    symlinkSync(path('elsewhere'), path('node_modules/linked'));
    expect((await load(['linked'])).outcomes[0]?.kind).toBe('loaded');
  });

  it('[P16] refuses the workspace, where the agent itself can write', async () => {
    write('workspace/own/index.js', GOOD);
    write('workspacelike/index.js', GOOD);
    write('linked/package.json', '{ "main": "../workspace/own/index.js" }');
    const { outcomes } = await load(['./workspace/own', './linked', './workspacelike']);
    expect(getPluginFailureReason(outcomes[0])).toContain('where the agent itself can write');
    expect(getPluginFailureReason(outcomes[1])).toContain('where the agent itself can write');
    expect(getLoadedPlugin(outcomes[2]).name).toBe('good');
  });

  it.each([
    ['./nowhere', 'there is no folder'],
    ['not-installed', 'no package "not-installed" is installed. Install it.'],
    ['../../../etc/passwd', 'there is no'],
    ['https://example.org/x.js', 'is installed'],
    ['good', `Write ./good for the folder`],
    ['./empty', 'It needs index.ts or'],
    ['./mangled', 'is not a package.json'],
  ])('[P16] %s: %s', async (use, reason) => {
    write('good/index.js', GOOD);
    write('empty/readme.txt', '');
    write('mangled/package.json', '{');
    expect(getPluginFailureReason((await load([use])).outcomes[0])).toContain(reason);
  });
});

describe('a plugin that does not work', () => {
  it.each<[what: string, source: string, reason: string]>([
    ['is not JavaScript', 'export const = ;', 'it cannot be loaded'],
    ['throws when it is imported', "throw new Error('no luck')", 'it cannot be loaded: no luck'],
    ['imports a missing module', "import 'not-there-at-all';", 'it cannot be loaded'],
    ['exports nothing', 'export const other = 1;', 'it has no `plugin` export'],
    ['exports a number', 'export const plugin = 7;', 'its export is not a plugin'],
    ['has no name', 'export const plugin = { setup: () => ({}) };', 'name: '],
    ['has a name with a space', createPluginSource('two words', 'return {}'), 'must be kebab-case'],
    [
      'throws in its setup',
      createPluginSource('a', "throw new Error('boom')"),
      'its setup failed: boom',
    ],
    [
      'rejects with no error',
      createPluginSource('a', 'throw undefined'),
      'its setup failed: undefined',
    ],
    [
      'rejects',
      createPluginSource('a', "return Promise.reject('later')"),
      'its setup failed: later',
    ],
    ['returns nothing', createPluginSource('a', ''), 'its parts are invalid'],
    ['misspells', createPluginSource('a', 'return { tool: [] }'), 'Unrecognized key: "tool"'],
    ['returns no list', createPluginSource('a', 'return { tools: {} }'), 'tools: '],
    [
      'returns half a tool',
      createPluginSource('a', "return { tools: [{ name: 'x' }] }"),
      'tools[0].tier',
    ],
    [
      'returns half a layer',
      createPluginSource('a', "return { layers: [{ id: 'x' }] }"),
      'layers[0].render',
    ],
    [
      'reads a file outside',
      createPluginSource('a', "return { sources: [{ id: 'x', reads: ['../x.md'], gather() {} }] }"),
      'sources[0].reads[0]: must be paths',
    ],
    ['returns half a hook', createPluginSource('a', 'return { hooks: [{}] }'), 'hooks[0].id'],
    [
      'returns half a channel',
      createPluginSource('a', "return { channels: [{ id: 'x' }] }"),
      'channels[0].load',
    ],
  ])('[P16] that %s is left out, and the others work', async (what, source, reason) => {
    const bad = `bad-${what.replaceAll(' ', '-')}`;
    write(`${bad}/index.js`, source);
    write('good/index.js', GOOD);
    const { outcomes, lines } = await load([`./${bad}`, './good']);
    expect(getPluginFailureReason(outcomes[0])).toContain(reason);
    expect(getLoadedPlugin(outcomes[1]).name).toBe('good');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('a plugin does not work; continuing without it');
  });
});

describe('a plugin that hangs', () => {
  it.each([
    ['while it is imported', 'await new Promise(() => {});'],
    ['in its setup', createPluginSource('a', 'return new Promise(() => {})')],
  ])('[P16] %s is abandoned', async (what, source) => {
    const late = `late-${what.replaceAll(' ', '-')}`;
    write(`${late}/index.js`, source);
    // The plugin never finishes loading, so the test works with any time limit.
    expect(getPluginFailureReason((await load([`./${late}`], 1)).outcomes[0])).toContain(
      'it took longer than 0.001 s',
    );
  });
});

describe('options', () => {
  const options = { token: 'abc', sides: 6 };

  it('[P16] reach the plugin unchanged if it has no schema', async () => {
    write('any/index.js', createPluginSource('any', 'return { skills: [options.token] }'));
    const { outcomes } = await load([{ use: './any', options }]);
    expect(getLoadedPlugin(outcomes[0]).left).toEqual([
      `the skills in ${path('any/abc')}: there is no such folder`,
    ]);
  });

  it("[P16] are validated by the plugin's schema, and an error names the key but not the value", async () => {
    const schema = `import { z } from 'zod';
      const options = z.strictObject({ sides: z.int().min(2), token: z.string().regex(/^x/) });`;
    write('strict/index.js', schema + createPluginSource('strict', 'return {}', 'options,'));
    const wrong = { use: './strict', options: { sides: 'six', token: 'secret-token' } };
    const reason = getPluginFailureReason((await load([wrong])).outcomes[0]);
    expect(reason).toContain('its options are wrong: sides: ');
    expect(reason).toContain('token: ');
    expect(reason).not.toContain('secret-token');
  });
});

describe('names that are already taken', () => {
  it("[P12] [P16] cannot replace Parley's own parts, while the plugin's other parts are kept", async () => {
    write(
      'greedy/index.js',
      ZOD +
        createPluginSource(
          'greedy',
          `return {
          tools: [${tool('read')}, ${tool('own_tool')}, ${tool('own_tool')}, ${tool('odd', 'z.string()')}],
          layers: [${layer('safety')}, ${layer('identity')}, ${layer('manners')}],
          channels: [${channel('web')}, ${channel('board')}, ${channel('odd', '{ safeParse() {} }')}, ${channel('slow', 'z.object({}).refine(async () => true)')}],
        };`,
        ),
    );
    const { outcomes, lines } = await load(['./greedy']);
    const { parts, left } = getLoadedPlugin(outcomes[0]);
    expect(parts.tools.map(({ name }) => name)).toEqual(['own_tool']);
    expect(parts.layers.map(({ id }) => id)).toEqual(['manners']);
    expect(parts.channels.map(({ id }) => id)).toEqual(['board']);
    expect(left.map((line) => line.split(':')[0])).toEqual([
      'the tool "read"',
      'the tool "own_tool"',
      'the tool "odd"',
      'the layer "safety"',
      'the layer "identity"',
      'the channel "web"',
      'the channel "odd"',
      'the channel "slow"',
    ]);
    expect(lines).toHaveLength(8);
  });

  it('[D13] drops tools and channels whose schema could take forever to check', async () => {
    const doubled =
      'Array.from({ length: 40 }).reduce((part) => z.object({ one: part, other: part }), z.object({}))';
    const ambiguous = 'z.object({ name: z.string().regex(/^(a+)+$/) })';
    write(
      'endless/index.js',
      ZOD +
        createPluginSource(
          'endless',
          `return {
          tools: [${tool('doubled', doubled)}, ${tool('ambiguous', ambiguous)}, ${tool('good')}],
          channels: [${channel('doubled', doubled)}, ${channel('ambiguous', ambiguous)}, ${channel('board')}],
        };`,
        ),
    );
    const { outcomes } = await load(['./endless']);
    const { parts } = getLoadedPlugin(outcomes[0]);
    expect(parts.tools.map(({ name }) => name)).toEqual(['good']);
    expect(parts.channels.map(({ id }) => id)).toEqual(['board']);
  });

  it('[P16] belong to the plugin that comes first in the settings', async () => {
    for (const name of ['one', 'two']) {
      const setup = `return { tools: [${tool('shared')}, ${tool(`of_${name}`)}] }`;
      write(`${name}/index.js`, ZOD + createPluginSource(name, setup));
    }
    const { outcomes } = await load(['./one', './two']);
    expect(combineParts(outcomes).tools.map(({ name }) => name)).toEqual([
      'shared',
      'of_one',
      'of_two',
    ]);
  });

  it('[P16] prevent a second plugin with the same name from being set up', async () => {
    write('first/index.js', createPluginSource('same', 'return {}'));
    write('second/index.js', createPluginSource('same', "throw new Error('was set up')"));
    const { outcomes } = await load(['./first', './second']);
    expect(getLoadedPlugin(outcomes[0]).name).toBe('same');
    expect(getPluginFailureReason(outcomes[1])).toBe(
      'the plugin "same" is already loaded from ./first. Remove one of them.',
    );
  });
});

describe('the services that a plugin receives', () => {
  it('[P16] include its folder, a log that names it, and the clock', async () => {
    write('asks/my-skills/x/SKILL.md', '');
    write(
      'asks/index.js',
      createPluginSource(
        'asks',
        `host.log.warn({ folder: host.folder, now: host.clock() }, 'hello');
         return { skills: ['my-skills'] }`,
      ),
    );
    const { outcomes, lines } = await load(['./asks']);
    expect(getLoadedPlugin(outcomes[0]).parts.skills).toEqual([join(path('asks'), 'my-skills')]);
    expect(lines).toEqual([`hello ${JSON.stringify({ folder: path('asks'), now: 0 })}`]);
  });

  it('[P16] are not prepared if no plugin is configured', async () => {
    expect((await load([])).outcomes).toEqual([]);
  });
});
