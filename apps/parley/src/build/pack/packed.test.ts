import { describe, expect, it } from 'vitest';
import { createPackedManifest, parseManifest } from './packed-manifest.ts';
import { createPackedExample, createPackedPage, listLinkedFiles } from './packed-texts.ts';

const MANIFEST = {
  ...{ name: 'parley', version: '1.0.0', private: true, type: 'module', files: ['dist'] },
  exports: {
    './plugin': { types: './types/plugin.d.ts', default: './packages/plugins/src/public.ts' },
    './package.json': './package.json',
  },
  scripts: { prepare: 'node build.js', prepack: 'false' },
  workspaces: ['packages/*'],
  devDependencies: { typescript: '1.0.0' },
  optionalDependencies: { telegraf: '1.0.0' },
};

describe('the package.json of the release', () => {
  it('[U06] omits scripts, so that npm does not build the package, and names bundle modules instead of source files', () => {
    const manifest = parseManifest(JSON.stringify(MANIFEST));
    expect(createPackedManifest(manifest, { hash: 'abc', hasTypes: true })).toEqual({
      ...{ name: 'parley', version: '1.0.0', private: true, type: 'module' },
      exports: {
        './plugin': { types: './types/plugin.d.ts', default: './dist/abc/plugin.mjs' },
        './package.json': './package.json',
      },
      optionalDependencies: { telegraf: '1.0.0' },
    });
  });

  it('[U06] omits types that were not built', () => {
    const manifest = parseManifest(JSON.stringify(MANIFEST));
    const { exports } = createPackedManifest(manifest, { hash: 'abc', hasTypes: false });
    expect(exports).toMatchObject({ './plugin': { default: './dist/abc/plugin.mjs' } });
    expect(JSON.stringify(exports)).not.toContain('types');
  });
});

describe('a documentation page in the release', () => {
  const isPacked = (file: string): boolean => ['pages/a.md', 'README.md', 'config'].includes(file);

  it.each([
    ['[a](a.md#part)', '[a](a.md#part)'],
    ['[the project](../README.md)', '[the project](../README.md)'],
    ['[settings](../config/)', '[settings](../config/)'],
    ['[`tool.ts`](../packages/agent/src/tool.ts), [b](b.md)', '`tool.ts`, b'],
    ['![A picture](images/gone.png)', 'A picture'],
    ['[web](https://example.org) [here](#part)', '[web](https://example.org) [here](#part)'],
  ])('[U06] links only to files in the release: %s', (text, packed) => {
    expect(createPackedPage('pages/page.md', text, isPacked)).toBe(packed);
  });

  it('[U06] includes the images on the page', () => {
    const page = '![One](images/one.png) and [two](../README.md) and [three](https://example.org)';
    expect(listLinkedFiles('pages/page.md', page)).toEqual(['pages/images/one.png', 'README.md']);
  });
});

describe('an example in the release', () => {
  it('[U06] imports the published module instead of the internal packages', () => {
    const source =
      "import { a } from '@parley/plugins';\nimport { z } from 'zod';\nimport './b.ts';";
    expect(createPackedExample(source)).toBe(
      "import { a } from 'parley/plugin';\nimport { z } from 'parley/plugin';\nimport './b.ts';",
    );
  });
});
